import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { until } from '../../../../test/core/work/support.ts'
import { memoryLog } from '../../../../test/fixtures/providers/call.ts'
import { matches } from '../../../../test/support/matching.ts'
import { seededDatabase } from '../../../../test/support/service.ts'
import { openDatabase } from '../../database/database.ts'
import { firstIdAt } from '../../database/id-times.ts'
import { type ConcurrentIndex, concurrentIndexes, followIndexes, makeIndexes } from '../concurrent-indexes.ts'

const url = await seededDatabase(t)
const database = openDatabase({ connectionString: url }, { onError: () => undefined })
t.teardown(database.close)
const log = memoryLog()
const one: ConcurrentIndex = { name: 'audit_of_test', on: 'audit (company_id, request_id)' }
const indexes = [one]

/** Whether the index is valid; undefined where there is none. */
async function valid (name = one.name): Promise<boolean | undefined> {
  const { rows } = await sql<{ valid: boolean }>`select indisvalid as valid from pg_index
    where indexrelid = to_regclass(${name})`.execute(database.owner)
  return rows[0]?.valid
}

/** A transaction that began before: an index waits for its end. */
async function olderTransaction (): Promise<{ end: () => Promise<void> }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('lock table audit in row exclusive mode')
  await client.query('select from companies')
  return { end: () => client.end() }
}

const isMaking = async (): Promise<boolean> => {
  const { rows } = await sql`select from pg_stat_activity where datname = current_database() and query like 'create index concurrently%'
    and state = 'active'`.execute(database.owner)
  return rows.length > 0
}

await t.test('a process that is killed leaves half an index, which the next one makes again; everybody writes meanwhile', async (t) => {
  const older = await olderTransaction()
  const killed = makeIndexes(database, { log, indexes }).catch((error: unknown) => error)
  await until('it is being made', isMaking)
  await until('it is there', async () => await valid() === false)
  t.equal(await makeIndexes(database, { log, indexes }), false, 'one process makes it')
  await sql`update companies set name = name`.execute(database.owner)
  await sql`insert into audit (company_id, action, object_kind, object_id, facts, at)
    values ((select min(company_id) from companies), 'test', 'test', '1', '{}', now())`.execute(database.owner)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
    and query like 'create index concurrently%'`.execute(database.owner)
  t.ok(await killed instanceof Error)
  await older.end()
  t.equal(await valid(), false)
  t.equal(await makeIndexes(database, { log, indexes }), true)
  t.equal(await valid(), true)
  t.same(log.lines.filter(({ message }) => message === 'an index was made').map(({ facts }) => facts), [
    { index: one.name, again: true, seconds: 0 }
  ])
  t.equal(await makeIndexes(database, { log, indexes }), true, 'nothing is left to do')
})

await t.test('a process that stops gives its index up', async (t) => {
  await sql`drop index if exists audit_of_test, audit_action`.execute(database.owner)
  const older = await olderTransaction()
  const following = followIndexes(database, log)
  await until('it is being made', isMaking)
  const begun = performance.now()
  await following.close()
  t.ok(performance.now() - begun < 60_000)
  await older.end()
  t.notOk(await valid('audit_action'))
  const again = followIndexes(database, log)
  await until('it is made', async () => await valid('audit_action') === true)
  await again.close()
})

await t.test('every index that is named can be made', async (t) => {
  t.equal(await makeIndexes(database, { log }), true)
  for (const { name, instead = 'none' } of concurrentIndexes) {
    t.equal(await valid(name), true, name)
    t.equal(await valid(instead), undefined, `${name} takes the place of ${instead}`)
  }
})

await t.test('an index that another one makes superfluous is dropped once that is there', async (t) => {
  const instead = 'audit_before'
  await sql`create index audit_before on audit (company_id, request_id)`.execute(database.owner)
  t.equal(await makeIndexes(database, { log, indexes: [{ ...one, instead }] }), true, 'it was there already')
  t.same([await valid(), await valid(instead)], [true, undefined])
  await sql`create index audit_before on audit (company_id, request_id)`.execute(database.owner)
  await sql`drop index audit_of_test`.execute(database.owner)
  t.equal(await makeIndexes(database, { log, indexes: [{ ...one, instead }] }), true)
  t.same([await valid(), await valid(instead)], [true, undefined])
})

await t.test('lists and counts of a company are read by its index, whoever has the newest rows', async (t) => {
  await sql`insert into dispatches (dispatch_id, company_id, user_id, status, services, metadata, request_id, created_at)
    select uuidv7(make_interval(secs => n)), company_id, user_id, 'succeeded', '{sms}', '{}', '', now()
    from generate_series(1, 4000) as n join (
      select row_number() over (order by company_id) % 4 as nth, company_id, min(user_id) as user_id from users group by company_id
    ) as owners on n % 4 = nth`.execute(database.owner)
  // What was inserted is seen by everybody once no older transaction is open.
  const isVisible = async (): Promise<boolean> => {
    await sql`vacuum analyze dispatches`.execute(database.owner)
    const { rows: [table] } = await sql<{ pages: number }>`select relallvisible as pages from pg_class where oid = 'dispatches'::regclass`
      .execute(database.owner)
    return Number(table?.pages) > 0
  }
  await until('it is seen by everybody', isVisible)
  const { company_id: companyId } = await database.owner.selectFrom('dispatches').select('company_id').executeTakeFirstOrThrow()
  const plans = await database.snapshot(companyId, async (queries) =>
    Promise.all([
      sql`select dispatch_id, recipient from dispatches where company_id = ${companyId} order by dispatch_id desc limit 25`,
      sql`select status, path, count(*) from dispatches where company_id = ${companyId} and dispatch_id > ${firstIdAt(Date.now())}
        and created_at < now() group by status, path`
    ].map(async (query) => JSON.stringify((await sql`explain (costs off) ${query}`.execute(queries)).rows))))
  matches(t, plans[0], /Index Scan using dispatches_counted/)
  matches(t, plans[1], /Index Only Scan using dispatches_counted/)
})
