import { type Database, openDatabase } from '@dispatch/core'
import { sql } from 'kysely'
import t from 'tap'
import { makeIndexes } from '../../../core/store/db/concurrent-indexes.ts'
import { type DispatchFilter, searchDispatches } from '../../../core/store/dispatch/dispatch-search.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { seededDatabase } from '../../support/service.ts'

const [stored, companyId] = [3_000, 1]

/** Half of them, the older ones, have nothing in common with the others. */
const halves = [
  `create temporary table made as select n, n % 2 = 0 as old,
    ('01990000-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid as dispatch_id from generate_series(1, ${stored}) as n`,
  `insert into dispatches (dispatch_id, company_id, user_id, status, services, metadata, document_number, request_id, created_at, detached, test)
    select dispatch_id, ${companyId}, (select min(user_id) from users), case when old then 'failed' else 'succeeded' end, '{sms}', '{}',
      case when old then 'old' else 'new' end, 'r' || n, now(), false, old from made`,
  `insert into steps (step_id, company_id, dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by, sandbox,
      fields, request_settings, price, held, status, delivery_status)
    select gen_random_uuid(), ${companyId}, dispatch_id, 0, 'sms', case when old then 'old' else 'new' end, '1.0.0', 'company', 'company',
      false, '{}', '{}', 0, 0, case when old then 'rejected' else 'accepted' end, case when old then 'returned' else 'delivered' end from made`
]

async function opened (): Promise<Database> {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, { onError: (error) => t.fail(error.message) })
  t.teardown(() => database.close())
  await makeIndexes(database, { log: createLogger('info', { write: () => undefined }) })
  await database.session(async (client) => {
    for (const text of halves) await client.query(text)
    await client.query('vacuum analyze')
  })
  return database
}

const database = await opened()

/** How many rows of the tables a search reads, and how many it finds. */
const readBy = (filter: DispatchFilter) =>
  database.snapshot(companyId, async (queries) => {
    const found = await searchDispatches(queries, companyId, filter, { limit: 25 })
    const { rows: [read] } = await sql<{ count: number }>`select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count
      from pg_stat_xact_user_tables where relname in ('dispatches', 'steps')`.execute(queries)
    return { found: found.length, read: read?.count }
  })

await t.test('where two filters find many each, and nothing together, the indexes tell so', async (t) => {
  const pairs: DispatchFilter[] = [
    { documentNumber: 'old', stepStatus: 'accepted' },
    { status: 'failed', stepStatus: 'accepted' },
    { test: false, deliveryStatus: 'returned' },
    { test: false, providerName: 'old' },
    { status: 'succeeded', stepStatus: 'rejected' }
  ]
  for (const pair of pairs) t.same(await readBy(pair), { found: 0, read: 0 }, JSON.stringify(pair))
})

await t.test('what is found is read for its page alone', async (t) => {
  const { found, read = Infinity } = await readBy({ documentNumber: 'new', stepStatus: 'accepted' })
  t.equal(found, 25)
  t.ok(read <= 4 * found, `${read} rows`)
})
