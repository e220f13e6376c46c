import { type CompanyQueries, type Database, openDatabase } from '@dispatch/database'
import { sql } from 'kysely'
import t from 'tap'
import { makeIndexes } from '../../../core/packages/tables/concurrent-indexes.ts'
import { type DispatchFilter, searchDispatches } from '../../../core/store/dispatch/dispatch-search.ts'
import { createLogger } from '../../../plugins/hooks/logging.ts'
import { seededDatabase } from '../../support/service.ts'

const [stored, older, companyId] = [3_000, 6_000, 1]

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
      false, '{}', '{}', 0, 0, case when old then 'rejected' else 'accepted' end, case when old then 'returned' else 'delivered' end from made`,
  // Each tenth of them has failed otherwise than the others.
  `update steps set error = jsonb_build_object('word', case when n % 20 = 0 then 'timeout' else 'provider_error' end, 'message', '')
    from made where made.dispatch_id = steps.dispatch_id and old`,
  // Older ones, more than a search for a part reads one after the other.
  `insert into dispatches (dispatch_id, company_id, user_id, status, services, metadata, document_number, recipient, request_id, created_at,
      finished_at, test)
    select ('01980000-' || lpad(to_hex(n), 4, '0') || '-7000-8000-000000000000')::uuid, ${companyId}, (select min(user_id) from users),
      case n when 7 then 'queued' else 'cancelled' end, '{file}', '{}', '2026-' || lpad(n::text, 6, '0'),
      case when n in (7, 8) then 'Zoë 100% Ångström' else 'Customer ' || n end, '', now(), case n when 7 then null else now() end, false
    from generate_series(1, ${older}) as n`
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

/** How many rows of the tables this connection has read of late. */
async function rowsRead (queries: CompanyQueries): Promise<number> {
  const { rows: [read] } = await sql<{ count: number }>`select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as count
    from pg_stat_xact_user_tables where relname in ('dispatches', 'steps')`.execute(queries)
  return read?.count ?? 0
}

/** How many rows of the tables a search reads, and how many it finds. */
const readBy = (filter: DispatchFilter) =>
  database.snapshot(companyId, async (queries) => {
    const before = await rowsRead(queries)
    const found = await searchDispatches(queries, companyId, filter, { limit: 25 })
    return { found: found.length, read: await rowsRead(queries) - before }
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
  const { found, read } = await readBy({ documentNumber: 'new', stepStatus: 'accepted' })
  t.equal(found, 25)
  t.ok(read <= 4 * found, `${read} rows`)
})

await t.test('an error of few dispatches, or of many, is found by its index for its page alone', async (t) => {
  const services = ['sms', 'file']
  const many = { error: 'provider_error', providerName: 'old', service: 'sms', stepStatus: 'failed', test: true } as const
  for (const filter of [
    { error: 'timeout' },
    { error: 'timeout', services },
    { stepStatus: 'failed' },
    { error: 'timeout', stepStatus: 'failed' },
    { ...many, services },
    many
  ] as const) {
    const { found, read } = await readBy(filter)
    t.equal(found, 25)
    t.ok(read <= 8 * found, `${read} rows`)
  }
  const none: DispatchFilter[] = [{ error: 'outcome_unknown' }, { error: 'timeout', service: 'email' }, {
    error: 'timeout',
    status: 'succeeded'
  }, { error: 'timeout', documentNumber: 'new' }, { error: 'timeout', to: new Date(0) }]
  for (const filter of none) t.equal((await readBy(filter)).found, 0, JSON.stringify(filter))
  t.equal((await readBy({ error: 'timeout', documentNumber: 'old' })).found, 25)
  const others = await database.snapshot(2, (queries) => searchDispatches(queries, 2, { error: 'timeout' }, { limit: 25 }))
  t.same(others, [], 'it is an error of the own company')
})

await t.test('the words of errors are those of the company of the transaction alone', async (t) => {
  const count = async (whose: number): Promise<unknown> =>
    database.company(whose, async (queries) =>
      (await sql<{ count: string }>`select count(*) from step_errors`.execute(queries)).rows[0]?.count)
  t.same([await count(companyId), await count(2)], ['1500', '0'])
})

/** How often tables were read whole, how many rows were read, and how often by the index of parts, by this connection. */
async function readNow (queries: CompanyQueries): Promise<[whole: number, rows: number, byIndex: number]> {
  const { rows: [now] } = await sql<{ counts: [number, number, number] }>`select array[seq_scan::int, idx_tup_fetch::int,
    pg_stat_get_xact_numscans('dispatches_text'::regclass)::int] as counts from pg_stat_xact_user_tables where relname = 'dispatches'`
    .execute(queries)
  return now?.counts ?? [0, 0, 0]
}

/** The last digits of the numbers that a part finds, and what was read for them. */
async function withPart (search: string, filter: DispatchFilter = {}, limit = 25) {
  return await database.snapshot(companyId, async (queries) => {
    const before = await readNow(queries)
    const found = await searchDispatches(queries, companyId, { search, partial: true, ...filter }, { limit })
    const after = await readNow(queries)
    const [whole, rows, byIndex] = [after[0] - before[0], after[1] - before[1], after[2] - before[2]]
    return { numbers: found.map(({ document_number: number }) => Number(number?.slice(-4))), whole, rows, byIndex }
  })
}

await t.test('a part of a number or a recipient is found by an index, whatever its case and accents, and in every state', async (t) => {
  for (const part of ['angstrom', 'ZOE 100%', 'ngströ', 'zoë 100% ång']) {
    const { numbers, whole, rows, byIndex } = await withPart(part)
    t.same(numbers, [8, 7], part)
    t.same([whole, byIndex], [0, 1], 'the table is not read whole')
    t.ok(rows < 2_100, `${rows} rows`)
  }
  t.same((await withPart('004321')).numbers, [4321], 'the end of a number')
  t.same((await withPart('angstrom', { status: 'queued' })).numbers, [7])
  t.same((await withPart('100_', {})).numbers, [], 'no character of a part stands for others')
  t.same((await withPart('å 1')).numbers, [], 'what has no three letters or digits in a row is a part of nothing')
})

await t.test('of a part that many have, the newest are found, also page after page, and whatever other filters leave', async (t) => {
  const first = await withPart('customer', {}, 3)
  t.same(first.numbers, [6000, 5999, 5998])
  const page = await database.snapshot(companyId, (queries) =>
    searchDispatches(queries, companyId, { search: 'customer', partial: true }, {
      limit: 2,
      after: '01980000-0064-7000-8000-000000000000'
    }))
  t.same(page.map(({ recipient }) => recipient), ['Customer 99', 'Customer 98'])
  t.same((await withPart('2026', { recipient: 'customer 5000' })).numbers, [5000], 'among the newest 2,000')
})

await t.test('an id or a number in full finds that alone; a part is found in the own company alone', async (t) => {
  t.same((await withPart('2026-000100')).numbers, [100])
  t.equal((await readBy({ search: '004321' })).found, 0, 'unless parts are asked for')
  const others = await database.snapshot(2, (queries) => searchDispatches(queries, 2, { search: 'angstrom', partial: true }, { limit: 25 }))
  t.same(others, [])
})

await t.test('without its index, a part finds nothing', async (t) => {
  await sql`drop index dispatches_text`.execute(database.owner)
  t.same(
    await database.snapshot(companyId,
      (queries) => searchDispatches(queries, companyId, { search: 'angstrom', partial: true }, { limit: 25 })),
    []
  )
})
