import { ClientGone, onBehalfOf } from '@dispatch/accounts'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createGate } from '../../../../test/support/gate.ts'
import { has } from '../../../../test/support/matching.ts'
import { createPace, createPasswordSemaphore, type Timed } from '../access/password-semaphore.ts'

/** A semaphore on a machine where each password takes so many milliseconds. */
function onMachine (milliseconds: number) {
  let time = 0
  const pace = createPace(() => time)
  const run = createPasswordSemaphore(pace)
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
  return { run, password, beside, pace }
}

for (const [milliseconds, max] of [[4, 500], [17, 118], [100, 20]] as const) {
  await t.test(`where a password takes ${milliseconds} ms, ${max} may wait: they are done in two seconds`, async (t) => {
    const { run, beside } = onMachine(milliseconds)
    await run('first', beside)
    const gate = createGate()
    const running = run('running', () => gate.pass())
    const flood = Array.from({ length: 700 }, (_, one) => run(`address ${one % 300}`, () => Promise.resolve()))
    const ends = Promise.allSettled(flood)
    gate.open()
    await running
    const refused = (await ends).flatMap((end) => end.status === 'rejected' ? [end.reason as unknown] : [])
    t.equal(flood.length - refused.length, max, 'of 700 from 300 addresses')
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

await t.test('the bound follows what was measured at the start, of which the fastest counts, and then what passwords take', async (t) => {
  const took = [250, 100, 140]
  let time = 0
  const pace = createPace(() => time)
  const hashing = (): Promise<unknown> => Promise.resolve(time += took.shift() ?? 50)
  t.equal(pace.took(), 20, 'before anything was measured')
  await pace.measure(hashing)
  t.equal(pace.took(), 100)
  await pace.timed(hashing)
  t.equal(pace.took(), 95)
  await pace.measure(hashing)
  t.equal(pace.took(), 95, 'what people met counts more')
})

await t.test('an address that has not asked yet is let into a flood of 100 others, and goes first', async (t) => {
  const { run, password } = onMachine(100)
  await run('first', password)
  const order: string[] = []
  let over = false
  const ask = (owner: string): Promise<boolean> => run(owner, setImmediate).then(() => order.push(owner) > 0, () => false)
  // Each asks again as soon as it has an answer or a refusal.
  const flood = Array.from({ length: 100 }, async (_, one) => {
    while (!over) if (!await ask(`address ${one}`)) await setImmediate()
  })
  while (new Set(order).size < 100) await setImmediate()
  for (let newcomer = 0; newcomer < 10; newcomer++) {
    const before = order.length
    t.equal(await ask(`newcomer ${newcomer}`), true)
    t.ok(order.length - before <= 3, `${order.length - before} were before`)
  }
  over = true
  await Promise.all(flood)
})
