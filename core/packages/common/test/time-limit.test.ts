import { untilAborted, withTimeLimit } from '@dispatch/common'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'

const never = new Promise<never>(() => undefined)

void t.test('work that ends in time has its own end', async (t) => {
  t.equal(await withTimeLimit(1_000, Promise.resolve('done')), 'done')
  await t.rejects(withTimeLimit(1_000, Promise.reject(new Error('its own'))), { message: 'its own' })
})

void t.test('work that takes too long is left alone, and the error is made only then', async (t) => {
  await t.rejects(withTimeLimit(5, never), { message: 'It took more than 5 milliseconds.' })
  let made = 0
  const late = (): Error => new Error(`late ${String(++made)}`)
  await withTimeLimit(5, Promise.resolve(), late)
  await pause(20)
  t.equal(made, 0)
  await t.rejects(withTimeLimit(5, never, late), { message: 'late 1' })
})

void t.test('work ends with its signal, also one that has fired before', async (t) => {
  const reason = new Error('over')
  const end = new AbortController()
  t.equal(await untilAborted(end.signal, Promise.resolve('done'), reason), 'done')
  const waiting = untilAborted(end.signal, never, reason)
  end.abort()
  await t.rejects(waiting, reason)
  await t.rejects(untilAborted(end.signal, never, reason), reason)
})
