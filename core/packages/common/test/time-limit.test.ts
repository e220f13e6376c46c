import { turnLimit, withDeadline, withinTurns, withTimeLimit } from '@dispatch/common'
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

void t.test('turns of the event loop are counted and no clock, so that a thread that is held up takes nothing from its work', async (t) => {
  const late = new Error('late')
  t.equal(await withinTurns(1_000, Promise.resolve('done'), late), 'done')
  await t.rejects(withinTurns(40, never, late), late)
  const work = withinTurns(400, pause(200, 'done'), late)
  await pause(1)
  const begun = performance.now()
  while (performance.now() - begun < 800);
  t.equal(await work, 'done')
  const { signal, clear } = turnLimit(40)
  clear()
  await pause(100)
  t.notOk(signal.aborted)
})
