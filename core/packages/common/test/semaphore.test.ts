import { createSemaphore } from '@dispatch/common'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'

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
