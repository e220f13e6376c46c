import { chains } from '@dispatch/contract'
import t from 'tap'
import { startChains } from './support/chains-stage.ts'

const { allRun } = await startChains(t)

await t.test('every chain of the table runs: each step gets the one document, in the order of the path', (t) => allRun(t, chains))
