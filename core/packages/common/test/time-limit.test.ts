import { withDeadline, withTimeLimit } from '@dispatch/common'
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

void t.test('work ends at its deadline or with the outer signal, also where it ignores its own, which always fires', async (t) => {
  const reason = new Error('over')
  const signals: AbortSignal[] = []
  const run = <T>(work: Promise<T>, { limit = 1_000, outer }: { limit?: number, outer?: AbortSignal } = {}): Promise<T> =>
    withDeadline(limit, (ended) => {
      signals.push(ended)
      return work
    }, reason, outer)
  t.equal(await run(Promise.resolve('done')), 'done')
  const end = new AbortController()
  await t.rejects(run(never, { limit: 5 }), reason)
  const waiting = run(never, { outer: end.signal })
  end.abort()
  await t.rejects(waiting, reason)
  await t.rejects(run(never, { outer: end.signal }), reason)
  t.same(signals.map(({ aborted }) => aborted), [true, true, true, true])
  t.equal(signals[1]?.reason, reason)
})
