import fastify from 'fastify'
import t from 'tap'
import { createAbortableDelay } from '../../plugins/hooks/abortable-delay.ts'

/** The timers that keep the process running. */
const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

void t.test('a delay keeps no process running, and ends at once when the server closes', async (t) => {
  const app = fastify()
  const delay = createAbortableDelay(app)
  await app.ready()
  const before = timers()
  const [waiting, begun] = [delay(60_000), performance.now()]
  t.equal(timers(), before)
  await app.close()
  await waiting
  t.ok(performance.now() - begun < 10_000)
})
