import { createRateLimiter } from '@dispatch/accounts'
import { migrate } from '@dispatch/core'
import { openDatabase } from '@dispatch/database'
import { sql } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { outageOf } from '../../plugins/support/outage.ts'
import { has } from '../../support/matching.ts'
import { testDatabase } from '../../support/postgres.ts'

const { url } = await testDatabase(t)
const open = (): ReturnType<typeof openDatabase> => openDatabase({ connectionString: url }, { connections: 3, onError: () => undefined })
const [here, there] = [open(), open()]
t.teardown(() => Promise.all([here.close(), there.close()]))
await migrate(here)

await t.test('processes that count together let exactly so many pass', async (t) => {
  const limit = { name: 'shared', quota: 25, window: 60 }
  const limiters = [createRateLimiter(here, limit), createRateLimiter(there, limit)]
  const taken = await Promise.all(Array.from({ length: 60 }, (_, index) => limiters[index % 2]!.take('ada')))
  t.equal(taken.filter(({ exceeded }) => !exceeded).length, 25)
  has(t, await limiters[0]!.take('bob'), { exceeded: false, policy: 'shared', quota: 25, window: 60, remaining: 24 })
})

await t.test('limits of different names count apart', async (t) => {
  const [one, other] = [
    createRateLimiter(here, { name: 'one', quota: 1, window: 60 }),
    createRateLimiter(here, { name: 'other', quota: 1, window: 60 })
  ]
  await one.take('ada')
  has(t, await one.take('ada'), { exceeded: true, remaining: 0 })
  has(t, await other.take('ada'), { exceeded: false })
})

await t.test('what is given back can be taken again', async (t) => {
  const limiter = createRateLimiter(here, { name: 'given', quota: 1, window: 60 })
  for (let time = 0; time < 3; time++) {
    has(t, await limiter.take('ada'), { exceeded: false })
    await limiter.giveBack('ada')
  }
})

await t.test('a time that is over begins anew, and tells its end', async (t) => {
  const limiter = createRateLimiter(here, { name: 'short', quota: 1, window: 600 })
  const { reset } = await limiter.take('ada')
  t.ok(reset > 595 && reset <= 600)
  await sql`update limits set expire = 1 where key = 'short:ada'`.execute(here.owner)
  has(t, await limiter.take('ada'), { exceeded: false, reset: 600 })
})

await t.test('who is over the limit costs no more queries', async (t) => {
  const limiter = createRateLimiter(here, { name: 'blocked', quota: 1, window: 60 })
  await limiter.take('ada')
  await limiter.take('ada')
  const pointsOf = async (): Promise<unknown> => (await sql`select points from limits where key = 'blocked:ada'`.execute(here.owner)).rows
  const before = await pointsOf()
  for (let time = 0; time < 10; time++) has(t, await limiter.take('ada'), { exceeded: true, remaining: 0, reset: 60 })
  t.same(await pointsOf(), before)
})

await t.test('a process knows whom it has refused, until their time is over', async (t) => {
  const limiter = createRateLimiter(here, { name: 'spent', quota: 1, window: 1 })
  await limiter.take('ada')
  t.equal(limiter.spent('ada'), undefined, 'the last one may still be given back')
  await limiter.take('ada')
  has(t, limiter.spent('ada'), { policy: 'spent', quota: 1, window: 1, remaining: 0, reset: 1 })
  t.equal(limiter.spent('bob'), undefined)
  await pause(1050)
  t.equal(limiter.spent('ada'), undefined)
  has(t, await limiter.take('ada'), { exceeded: false })
})

await t.test('while the database is away the door stays as narrow as one process makes it', async (t) => {
  const limiter = createRateLimiter(here, { name: 'away', quota: 2, window: 60 })
  const outage = outageOf(url)
  await outage.begin()
  const taken = [await limiter.take('ada'), await limiter.take('ada'), await limiter.take('ada')]
  await outage.end()
  t.same(taken.map(({ exceeded }) => exceeded), [false, false, true])
})

await t.test('the counters need no disk', async (t) => {
  t.same((await sql`select relpersistence as kept from pg_class where relname = 'limits'`.execute(here.owner)).rows, [{ kept: 'u' }])
})
