import { openQueue } from '@dispatch/queue'
import { sql } from 'kysely'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { openDatabase } from '../../../core/packages/database/database.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { withClient } from '../../support/postgres-server.ts'
import { seededDatabase } from '../../support/service.ts'

await t.test('a process makes twenty connections at most, and the one that listens for new jobs is among them', async (t) => {
  const databaseUrl = await seededDatabase(t)
  const database = openDatabase({ connectionString: databaseUrl }, { onError: (error) => t.fail(error.message) })
  const queue = await openQueue({ databaseUrl, database, log: createLogger('silent') })
  t.teardown(() => Promise.all([queue.close(), database.close()]))
  await queue.work('poll', () => Promise.resolve(), 2)

  await sql`create function slept(given jsonb, moment timestamptz) returns void language sql begin atomic select pg_sleep(0.2); end`
    .execute(database.owner)
  const working = sql`select pg_sleep(1)`
  const requested = Array.from({ length: 40 }, (_, nth) => [
    database.callFunction(nth, 'slept', '{}'),
    database.company(nth, (queries) => working.execute(queries)),
    working.execute(database.owner),
    working.execute(database.vital),
    queue.send('retention', Array.from({ length: 500 }, () => ({ data: {} })))
  ]).flat()
  let isOver = false
  // Who waits for too long is told so: there are more than can be served at once.
  const settled = Promise.allSettled(requested).then(() => {
    isOver = true
  })
  const open = `select application_name as name, count(*)::integer as count from pg_stat_activity
    where datname = current_database() and application_name like 'document-dispatch %' group by 1`
  let max: Record<string, number> = {}
  await withClient(databaseUrl, async (client) => {
    while (!isOver) {
      const { rows } = await client.query<{ name: string, count: number }>(open)
      max = rows.reduce((found, { name, count }) => ({ ...found, [name]: Math.max(count, found[name] ?? 0) }), max)
      await pause(50)
    }
  })
  t.same(max, {
    'document-dispatch companies': 9,
    'document-dispatch commits': 1,
    'document-dispatch owner': 4,
    'document-dispatch vital': 2,
    'document-dispatch queue': 4
  })
  await settled
})
