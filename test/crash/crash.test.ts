import t from 'tap'
import { runCrash } from './run.ts'

// tap's word for a test that is out of time: everything that was started ends with this process.
process.once('SIGALRM', () => process.exit(1))

void t.test('whatever is killed, and whenever: nothing is lost, and nothing is sent twice', async (t) => {
  const { faults, summary } = await runCrash({ seed: Date.now() % 1_000_000, kills: 6 })
  t.strictSame(faults, [], summary)
})
