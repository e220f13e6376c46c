import t from 'tap'
import { createWorkSemaphore } from '../../../core/work/queue/work-semaphore.ts'

void t.test('whoever asks for permits gets those that are free, as many as are asked for', async (t) => {
  const semaphore = createWorkSemaphore(3)
  t.equal(await semaphore.take(2), 2)
  t.equal(await semaphore.take(8), 1)
})

void t.test('whoever waits gets one permit when it is given back, and with it those that are free then', async (t) => {
  const semaphore = createWorkSemaphore(2)
  await semaphore.take(2)
  let taken: number | undefined
  const asked = semaphore.take(8).then((permits) => {
    taken = permits
  })
  await turns()
  t.equal(taken, undefined, 'none is free')
  semaphore.release(2)
  await asked
  t.equal(taken, 2)
})

void t.test('who has waited longest is the first', async (t) => {
  const semaphore = createWorkSemaphore(1)
  await semaphore.take(1)
  const order: string[] = []
  const [former, latter] = ['former', 'latter'].map(async (who) => {
    await semaphore.take(1)
    order.push(who)
    semaphore.release(1)
  })
  semaphore.release(1)
  await Promise.all([former, latter])
  t.strictSame(order, ['former', 'latter'])
})

void t.test('once it is closed, whoever waits and whoever comes gets none', async (t) => {
  const semaphore = createWorkSemaphore(1)
  await semaphore.take(1)
  const waiting = semaphore.take(2)
  semaphore.close()
  t.equal(await waiting, 0)
  semaphore.release(1)
  t.equal(await semaphore.take(1), 0)
})

/** Lets everything go on that waits for nothing else. */
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
