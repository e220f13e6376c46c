import { createKnownClients } from '@dispatch/accounts'
import { openDatabase } from '@dispatch/database'
import { sql } from 'kysely'
import t from 'tap'
import { clockAt } from '../../../../test/support/clock.ts'
import { seededDatabase } from '../../../../test/support/service.ts'
import { forgetClients } from '../../../store/dispatch/retention.ts'

const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
t.teardown(database.close)
const clock = clockAt('2026-03-14T09:30:00.000Z')
const { amongKnown, remember } = createKnownClients(database, clock.now)
const isKnown = async (userId: number, client: string): Promise<boolean> => (await amongKnown([userId, 77], client)).includes(userId)
const day = 24 * 3600
const lastAt = async (): Promise<unknown> =>
  (await sql<{ last_at: Date }>`select last_at from known_clients`.execute(database.owner)).rows[0]?.last_at

await t.test('a client is known to its user for 30 days after the last login from it', async (t) => {
  t.notOk(await isKnown(1, '192.0.2.1'))
  await remember(1, '192.0.2.1')
  t.ok(await isKnown(1, '192.0.2.1'))
  t.notOk(await isKnown(2, '192.0.2.1'))
  t.notOk(await isKnown(1, '192.0.2.2'))
  clock.advance(20 * day)
  await remember(1, '192.0.2.1')
  clock.advance(30 * day - 0.001)
  t.ok(await isKnown(1, '192.0.2.1'))
  clock.advance(0.001)
  t.notOk(await isKnown(1, '192.0.2.1'))
})

await t.test('of several users those are known who were there', async (t) => {
  for (const userId of [1, 2]) await remember(userId, '192.0.2.9')
  t.same([...await amongKnown([1, 2, 3], '192.0.2.9')].sort(), [1, 2])
  t.same(await amongKnown([], '192.0.2.9'), [])
  await sql`delete from known_clients where client = '192.0.2.9'`.execute(database.owner)
})

await t.test('it is written once a day, and forgotten when it counts no more', async (t) => {
  await remember(1, '192.0.2.1')
  const first = await lastAt()
  clock.advance(day)
  await remember(1, '192.0.2.1')
  t.same(await lastAt(), first)
  clock.advance(0.001)
  await remember(1, '192.0.2.1')
  t.same(await lastAt(), clock.now())
  t.equal(await forgetClients(database, { before: clock.now(), limit: 10 }), 0)
  t.equal(await forgetClients(database, { before: new Date(clock.now().getTime() + 1), limit: 10 }), 1)
})
