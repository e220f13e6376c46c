import t from 'tap'
import { createWorkSemaphore } from '../../../core/work/queue/work-semaphore.ts'

void t.test('whoever asks for permits gets those that are free, as many as are asked for', async (t) => {
  const semaphore = createWorkSemaphore(3)
  const two = await semaphore.take(2)
  t.equal(two.length, 2)
  t.equal((await semaphore.take(8)).length, 1)
})

void t.test('whoever waits gets one permit when it is given back, and with it those that are free then', async (t) => {
  const semaphore = createWorkSemaphore(2)
  const [first, second] = await semaphore.take(2)
  let taken: number | undefined
  const asked = semaphore.take(8).then(({ length }) => {
    taken = length
  })
  await turns()
  t.equal(taken, undefined, 'none is free')
  first?.()
  second?.()
  await asked
  t.equal(taken, 2)
})

void t.test('who has waited longest is the first', async (t) => {
  const semaphore = createWorkSemaphore(1)
  const [held] = await semaphore.take(1)
  const order: string[] = []
  const [former, latter] = ['former', 'latter'].map(async (who) => {
    const [release] = await semaphore.take(1)
    order.push(who)
    release?.()
  })
  held?.()
  await Promise.all([former, latter])
  t.strictSame(order, ['former', 'latter'])
})

/** Lets everything go on that waits for nothing else. */
const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
