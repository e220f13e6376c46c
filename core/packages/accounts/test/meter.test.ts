import { createMeter } from '@dispatch/accounts'
import { migrate } from '@dispatch/core'
import { openDatabase } from '@dispatch/database'
import t from 'tap'
import { until } from '../../../../test/core/work/support.ts'
import { outageOf } from '../../../../test/plugins/support/outage.ts'
import { clockAt } from '../../../../test/support/clock.ts'
import { has } from '../../../../test/support/matching.ts'
import { testDatabase } from '../../../../test/support/postgres.ts'

const { url } = await testDatabase(t)
const clock = clockAt('2026-03-14T09:30:00.000Z')
const open = (): ReturnType<typeof openDatabase> =>
  openDatabase({ connectionString: url }, { connections: 3, onError: () => undefined, time: clock.now })
const [here, there] = [open(), open()]
t.teardown(() => Promise.all([here.close(), there.close()]))
await migrate(here)

const limit = { name: 'shared', quota: 100, window: 60 }
const failures: unknown[] = []
const options = { now: clock.now, onError: (error: unknown) => failures.push(error) }

await t.test('as much as the quota passes at once, and comes back evenly', (t) => {
  const meter = createMeter(here, { ...limit, name: 'even' }, options)
  has(t, meter.take('ada'), { policy: 'even', quota: 100, window: 60, remaining: 99, reset: 1, exceeded: false })
  const passed = (max: number): number => Array.from({ length: max }, () => meter.take('ada')).filter(({ exceeded }) => !exceeded).length
  t.equal(passed(200), 99)
  has(t, meter.take('ada'), { remaining: 0, reset: 1, exceeded: true })
  clock.advance(6)
  t.equal(passed(200), 10, 'six seconds of sixty')
  has(t, meter.take('bob'), { remaining: 99 })
  has(t, meter.take('ada', 50), { exceeded: true, reset: 30 }, 'until so much is there')
  clock.advance(60)
  has(t, meter.take('ada', 100), { exceeded: false, remaining: 0, reset: 60 })
  t.end()
})

await t.test('processes share it: together they pass a part more at most, and who takes little is no message', async (t) => {
  const meters = [createMeter(here, limit, options), createMeter(there, limit, options)]
  let passed = 0
  meters[0]!.take('quiet')
  for (let turn = 0; turn < 400; turn++) {
    if (!meters[turn % 2]!.take('loud').exceeded) passed++
    // Time for a message, which nobody waits for.
    await Promise.all([here.ping(), there.ping()])
  }
  await until('the processes know of each other', async () => {
    const rows = await here.owner.selectFrom('limits').select('expire').where('key', '=', 'shared:loud').execute()
    return rows.length === 1 && meters.every((meter) => meter.take('loud').exceeded)
  })
  t.ok(passed >= 100 && passed <= 130, `${String(passed)} of 400 passed`)
  t.equal((await here.owner.selectFrom('limits').select('key').where('key', '=', 'shared:quiet').execute()).length, 0)
})

await t.test('a process whose database is away counts by itself', async (t) => {
  const meter = createMeter(here, { ...limit, name: 'away' }, options)
  const outage = outageOf(url)
  await outage.begin()
  const passed = Array.from({ length: 300 }, () => meter.take('ada')).filter(({ exceeded }) => !exceeded).length
  t.equal(passed, 100)
  await until('it is told', () => failures.length > 0)
  await outage.end()
})
