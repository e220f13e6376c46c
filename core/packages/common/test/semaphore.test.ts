import { createFairSemaphore, createSemaphore } from '@dispatch/common'
import { setImmediate, setTimeout as pause } from 'node:timers/promises'
import t from 'tap'

void t.test('an owner has one job at a time, and waits for nobody else', async (t) => {
  const semaphore = createFairSemaphore({ waiting: 1 })
  const begun: string[] = []
  const gate = createSemaphore(0, 10)
  const job = (name: string) => async (): Promise<void> => {
    begun.push(name)
    await gate.acquire()
  }
  const first = semaphore.run(1, job('first'))
  const second = semaphore.run(1, job('second'))
  await t.rejects(semaphore.run(1, job('third')), { name: 'SemaphoreFull' })
  const other = semaphore.run(2, job('other'))
  await setImmediate()
  t.strictSame(begun, ['first', 'other'])
  gate.release()
  await first
  gate.release()
  await other
  await setImmediate()
  t.strictSame(begun, ['first', 'other', 'second'])
  gate.release()
  await second
  await semaphore.run(1, () => Promise.resolve())
})

void t.test('a caller that gets no permit in time leaves the queue, and the permit goes to the next one', async (t) => {
  const semaphore = createSemaphore(1, Infinity, 50)
  t.ok(await semaphore.acquire())
  t.notOk(await semaphore.acquire())
  const next = semaphore.acquire()
  semaphore.release()
  t.ok(await next)
  await pause(60)
  semaphore.release()
  t.same([await semaphore.acquire(), await semaphore.acquire()], [true, false], 'a time that has passed since changes nothing')
})

void t.test('jobs without a permit in time fail by the error of their semaphore, and other owners go on', async (t) => {
  const semaphore = createFairSemaphore({ waiting: Infinity, timeLimit: 20, full: () => new Error('busy') })
  const release = await semaphore.acquire(1)
  const late = [1, 2, 3].map(() => semaphore.run(1, () => Promise.resolve('done')))
  t.equal(await semaphore.run(2, () => Promise.resolve('other')), 'other')
  for (const job of late) await t.rejects(job, { message: 'busy' })
  release?.()
  t.equal(await semaphore.run(1, () => Promise.resolve('done')), 'done')
})
