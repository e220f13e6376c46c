import { ClientGone, onBehalfOf } from '@dispatch/core'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createPasswordSemaphore, type Timed } from '../../../core/access/password-semaphore.ts'
import { createGate } from '../../support/gate.ts'
import { has } from '../../support/matching.ts'

/** A semaphore on a machine where each password takes so many milliseconds. */
function onMachine (milliseconds: number) {
  let time = 0
  const run = createPasswordSemaphore(() => time)
  const password = (timed: Timed): Promise<void> =>
    timed(() => {
      time += milliseconds
      return Promise.resolve()
    })
  /** A password beside which the database takes ten seconds. */
  const beside = async (timed: Timed): Promise<void> => {
    time += 5_000
    await password(timed)
    time += 5_000
  }
  return { run, password, beside }
}

for (const [milliseconds, most] of [[4, 500], [17, 118], [100, 20]] as const) {
  await t.test(`where a password takes ${milliseconds} ms, ${most} may wait: they are done in two seconds`, async (t) => {
    const { run, beside } = onMachine(milliseconds)
    await run('first', beside)
    const gate = createGate()
    const running = run('running', () => gate.pass())
    const flood = Array.from({ length: 700 }, (_, one) => run(`address ${one % 300}`, () => Promise.resolve()))
    const ends = Promise.allSettled(flood)
    gate.open()
    await running
    const refused = (await ends).flatMap((end) => end.status === 'rejected' ? [end.reason as unknown] : [])
    t.equal(flood.length - refused.length, most, 'of 700 from 300 addresses')
    has(t, refused[0], { word: 'rate_limited', retryAfter: 2 })
  })
}

await t.test('a flood of one address makes way for others in a queue that is full', async (t) => {
  const { run, password } = onMachine(100)
  await run('first', password)
  const gate = createGate()
  const running = run('running', () => gate.pass())
  const order: string[] = []
  const ask = (owner: string): Promise<unknown> => run(owner, () => Promise.resolve(order.push(owner))).catch(() => 'refused')
  const all = [...Array<string>(30).fill('flood'), 'other', 'another'].map(ask)
  gate.open()
  await Promise.all([running, ...all])
  t.equal(order.length, 20)
  t.strictSame(order.slice(0, 3), ['flood', 'other', 'another'])
})

await t.test('what a client waits for is not done once it has gone, and it holds nothing else while it waits', async (t) => {
  const { run } = onMachine(1)
  const gate = createGate()
  const running = run('running', () => gate.pass())
  const gone = new AbortController()
  let waits = 0
  const client = { owner: () => 'client', gone: () => gone.signal, waits: () => waits++ }
  let done = false
  const departed = onBehalfOf(client, () =>
    run('client', () => {
      done = true
      return Promise.resolve()
    }))
  await setImmediate()
  t.equal(waits, 1)
  gone.abort(new ClientGone())
  await t.rejects(departed, { name: 'ClientGone' })
  gate.open()
  await running
  t.notOk(done)
})
