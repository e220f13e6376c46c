import { runConformance } from '@dispatch/conformance'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { memoryLog } from '../../../../test/fixtures/providers/call.ts'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { foldersToTry } from '../../../../test/support/folders-to-try.ts'
import { createSandbox } from '../provider.ts'

const providers = fileURLToPath(new URL('../../../../providers', import.meta.url))
const folders = foldersToTry(providers)

t.setTimeout(1_200_000)
// Most of a run is waiting for answers that do not come: eight wait at once.
t.jobs = 8

const log = memoryLog()
const sandbox = await createSandbox({ cache: await directory(t), log, maxProcesses: 40 })
t.teardown(() => sandbox.close())

await Promise.all(folders.map((folder) =>
  t.test(`${folder} keeps the contract in a process of its own`, { buffered: true }, async (t) => {
    const { cases } = await runConformance(join(providers, folder), { load: sandbox.load })
    for (const { rule, name, status, why } of cases) {
      if (status === 'skipped') t.pass(`${rule}: ${name}`, { skip: why ?? true })
      else t.equal(status, 'passed', `${rule}: ${name}${why === undefined ? '' : `\n${why}`}`)
    }
    t.ok(cases.length > 20)
  })
))
