import t from 'tap'
import { faultNames, faults, long } from './faults.ts'
import { runCrash } from './run.ts'

// tap's word for a test that is out of time: everything that was started ends with this process.
process.once('SIGALRM', () => process.exit(1))
// Forty seconds where the machine has nothing else to do, minutes where it has; tap takes the limit of a file from such a comment.
t.setTimeout(400_000)
t.comment('timeout=400000')

void t.test('whatever is killed or disturbed, and whenever: nothing is lost, and nothing is sent twice', async (t) => {
  const kinds = faultNames.filter((name) => faults[name].seconds[1] < long)
  const { faults: broken, summary } = await runCrash({
    seed: Date.now() % 1_000_000,
    kills: 3,
    kinds,
    disturbed: 75,
    say: (line) => t.comment(line)
  })
  t.comment(summary)
  t.strictSame(broken, [], summary)
})
