import type { CompanyQueries } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { createDeletionStep } from '../../core/packages/features/company-deletions/service/work.ts'
import { contains, has } from '../support/matching.ts'
import { invoiceRequest, operator, startService } from '../support/service.ts'
import { dump, tablesOf } from './support.ts'

// Nothing but these tests changes a row.
const service = await startService(t, { config: { runsWorker: false } })
const { app, send } = service
const { owner, company } = app.get('database')

/** A company with rows in every table that companies use. */
async function founded (name: string): Promise<number> {
  const { companyId, admin } = await service.company(name)
  const { body: { dispatchId } } = await send('POST', '/api/invoicing', {
    body: invoiceRequest({}, { metadata: { name } }),
    headers: { 'x-idempotency-key': name }
  }, admin)
  const entry = randomUUIDv7()
  await sql`insert into outbox (callback_id, company_id, dispatch_id, type, sequence, url, receiver, state, created_at)
    values (${entry}, ${companyId}, ${dispatchId}, 'dispatch.succeeded', 1, '', '', 'failed', now())`.execute(owner)
  await sql`insert into outbox_attempts (callback_id, number, company_id, to_endpoint, at)
    values (${entry}, 1, ${companyId}, false, now())`.execute(owner)
  await sql`insert into dispatch_counts (company_id, hour, service, status, test, count)
    values (${companyId}, now(), 'sms', 'failed', false, 1)`.execute(owner)
  await sql`insert into request_log (entry_id, company_id, user_id, request_id, method, route, path, status, milliseconds, address)
    values (${entry}, ${companyId}, 0, ${name}, 'GET', '', '', 200, 1, '')`.execute(owner)
  await sql`insert into exchange_log (entry_id, company_id, dispatch_id, service, provider, outcome, exchanges)
    values (${entry}, ${companyId}, ${dispatchId}, 'sms', 'twilio', 'accepted', '[]')`.execute(owner)
  await sql`insert into log_counts (company_id, log, hour, subject, result, count)
    values (${companyId}, 'requests', now(), ${name}, '404', 1)`.execute(owner)
  await sql`update steps set error = '{"word":"provider_error"}' where company_id = ${companyId}`.execute(owner)
  await send('POST', '/api/v1/keys', { body: { name, mode: 'test' } }, admin)
  await sql`insert into recovery_codes (user_id, company_id, digest) select user_id, ${companyId}, ${Buffer.from(name)} from users
    where email = ${admin.email}`.execute(owner)
  await sql`insert into company_domains (domain, company_id) values (${name}, ${companyId})`.execute(owner)
  await sql`insert into link_mail (company_id, user_id, provider, sender, set_at)
    select ${companyId}, user_id, '', '', now() from users where email = ${admin.email}`.execute(owner)
  await app.get('sessions').open(admin.email, admin.password, { address: '192.0.2.1', browser: name })
  await sql`insert into data_keys (company_id, key_id, created_at) values (${companyId}, gen_random_uuid(), now())
    on conflict do nothing`.execute(owner)
  await sql`insert into retentions (company_id, days, services) values (${companyId}, 30, '{}')`.execute(owner)
  await sql`insert into paused_batches (company_id, batch_id) values (${companyId}, gen_random_uuid())`.execute(owner)
  for (const { isolation } of app.features) await isolation?.(owner, companyId)
  return companyId
}

const theirs = await founded('theirs')
const own = await founded('own')

const role = 'dispatch_company'
/** Tables with a company in their rows that only the owner reads. */
const internal = ['changes', 'inbound']
const shared = ['template_versions', 'templates']
const tables = await tablesOf(app)
const reachable = tables.filter(({ name, ofCompanies }) => ofCompanies && !internal.includes(name)).map(({ name }) => name)
/**
 * Views of such tables, and whether each asks as whoever reads it. By the first, processes of the release before read and write rows. The
 * second reads as the owner, who may use its index, and the rows of the company of the transaction alone.
 */
const asking = { endpoint_callbacks: true, step_errors: false }
const views = Object.keys(asking)
const unreachable = tables.map(({ name }) => name).filter((name) => !reachable.includes(name))

const denied = /permission denied/
const forbidden = /permission denied|row-level security|can only be updated to DEFAULT/

/** Runs one statement as a company, in a transaction of its own; answers how many rows it found or changed. */
async function rowsAs (companyId: number, statement: RawBuilder<unknown>): Promise<number> {
  return company(companyId, async (queries) => countOf(await statement.execute(queries)))
}

function countOf ({ rows, numAffectedRows }: { rows: readonly unknown[], numAffectedRows?: bigint | undefined }): number {
  return numAffectedRows === undefined ? rows.length : Number(numAffectedRows)
}

await t.test('every table with companies in its rows is bound by one policy for all that its rows can suffer', async (t) => {
  t.ok(reachable.length >= 15)
  const { rows } = await sql<{ name: string, enabled: boolean, policies: number, all: boolean, named: boolean }>`
    select relname as name, relrowsecurity as enabled, count(polname)::int as policies,
      bool_and(polcmd = '*' and polpermissive and pg_get_expr(polqual, polrelid) like '%app.company%'
        and pg_get_expr(polwithcheck, polrelid) like '%app.company%') as all,
      bool_and(polroles = array[${role}::regrole::oid]) as named
    from pg_class left join pg_policy on polrelid = pg_class.oid
    where relnamespace = 'public'::regnamespace and relname in (${sql.join(reachable)}) group by relname, relrowsecurity order by relname`
    .execute(owner)
  t.same(rows, reachable.map((name) => ({ name, enabled: true, policies: 1, all: true, named: true })))
})

await t.test('the company of a row is never left open, but for what is shared', async (t) => {
  const { rows } = await sql<{ name: string }>`select table_name as name
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE' and column_name = 'company_id' and is_nullable = 'YES' order by 1`
    .execute(owner)
  t.same(rows.map(({ name }) => name).filter((name) => !internal.includes(name)), shared)
})

await t.test('a view is among those that are tried, and asks as whoever reads it unless it bounds its rows itself', async (t) => {
  const { rows } = await sql<{ name: string, asks: boolean }>`
    select relname as name, coalesce(reloptions @> '{security_invoker=true}', false) as asks
    from pg_class where relnamespace = 'public'::regnamespace and relkind in ('v', 'm') order by relname`
    .execute(owner)
  t.same(rows, Object.entries(asking).map(([name, asks]) => ({ name, asks })))
})

await t.test('a company sees its own rows in every table, and none of another\'s', async (t) => {
  for (const name of [...reachable, ...views]) {
    const table = sql.table(name)
    t.ok(await rowsAs(theirs, sql`select company_id from ${table} where company_id = ${theirs}`) > 0,
      `${name} has rows of the other company`)
    t.equal(await rowsAs(own, sql`select company_id from ${table} where company_id = ${theirs}`), 0, name)
    t.equal(await rowsAs(own, sql`select company_id from ${table} where company_id is distinct from ${own} and company_id is not null`), 0,
      name)
  }
})

/** The columns of a table but for those that the database computes. */
async function writtenColumns (name: string): Promise<RawBuilder<unknown>[]> {
  const { rows } = await sql<{ name: string }>`select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = ${name} and is_generated = 'NEVER' and is_updatable = 'YES'`.execute(owner)
  return rows.map((column) => sql.ref(column.name))
}

await t.test('a company cannot write a row of another, nor give one away', async (t) => {
  const before = await dump(app, theirs)
  for (const name of [...reachable, ...views]) {
    const table = sql.table(name)
    const one = sql<{ row: string }>`select to_jsonb(rows)::text as row from ${table} as rows where company_id = ${theirs} limit 1`
    const { rows: [first] } = views.includes(name) ? await company(theirs, (queries) => one.execute(queries)) : await one.execute(owner)
    const row = first?.row ?? ''
    const columns = sql.join(await writtenColumns(name))
    await t.rejects(
      rowsAs(own, sql`insert into ${table} (${columns}) overriding system value
        select ${columns} from jsonb_populate_record(null::${table}, ${row}::jsonb)`),
      forbidden,
      `insert into ${name}`
    )
    await t.rejects(rowsAs(own, sql`update ${table} set company_id = ${theirs} where company_id = ${own}`), forbidden,
      `give away in ${name}`)
    await isHarmless(`update ${name}`, sql`update ${table} set company_id = ${own} where company_id = ${theirs}`)
    await isHarmless(`delete from ${name}`, sql`delete from ${table} where company_id = ${theirs}`)
    await isHarmless(`lock in ${name}`, sql`select company_id from ${table} where company_id = ${theirs} for update`)
  }
  t.same(await dump(app, theirs), before)

  /** It finds nothing, or is not even allowed. */
  async function isHarmless (what: string, statement: RawBuilder<unknown>): Promise<void> {
    const changed = await rowsAs(own, statement).catch((error: unknown) => forbidden.test(String(error)) ? 0 : String(error))
    t.equal(changed, 0, what)
  }
})

await t.test('what is shared can be read by every company and written by none', async (t) => {
  for (const name of shared) {
    const table = sql.table(name)
    t.ok(await rowsAs(own, sql`select company_id from ${table} where company_id is null`) > 0, name)
    for (const statement of [
      sql`update ${table} set company_id = ${own} where company_id is null`,
      sql`delete from ${table}`,
      sql`insert into ${table} select * from ${table}`
    ]) {
      await t.rejects(rowsAs(own, statement), forbidden, name)
    }
  }
  for (const statement of [
    sql`update templates set version = null, removed_at = now() where company_id is null`,
    sql`update template_versions set published_at = null where company_id is null`
  ]) {
    await t.rejects(rowsAs(own, statement), forbidden, 'nor by a column that a company may write')
  }
})

await t.test('without a company there is nothing', async (t) => {
  for (const name of [...reachable.filter((name) => !shared.includes(name)), ...views]) {
    await owner.transaction().execute(async (queries) => {
      await sql`select set_config('role', ${role}, true)`.execute(queries)
      t.equal(countOf(await sql`select company_id from ${sql.table(name)}`.execute(queries)), 0, name)
    })
  }
})

await t.test('what belongs to no company cannot be reached', async (t) => {
  const ofFeatures = app.features.flatMap(({ tables = {} }) => Object.keys(tables).filter((name) => tables[name] === 'service'))
  t.same(unreachable.filter((name) => !ofFeatures.includes(name)), ['change_counter', 'changes', 'inbound', 'known_clients',
    'kysely_migration', 'kysely_migration_lock', 'limits', 'lineages', 'provider_pins', 'provider_processes', 'provider_reloads',
    'provider_trials', 'releases', 'signing_keys', 'waiting_sign_ins'])
  await t.rejects(rowsAs(own, sql`select * from pg_shadow`), denied)
  for (const name of [...unreachable, 'pg_catalog.pg_authid']) {
    for (const statement of [sql`select * from ${sql.table(name)}`, sql`delete from ${sql.table(name)}`]) {
      await t.rejects(rowsAs(own, statement), denied, name)
    }
  }
  await t.rejects(rowsAs(own, sql`select password_hash from users`), denied, 'the passwords of its own users')
})

await t.test('the ledger and the timelines are never rewritten', async (t) => {
  for (const name of ['ledger', 'events']) {
    await t.rejects(rowsAs(own, sql`update ${sql.table(name)} set at = now()`), denied, name)
    await t.rejects(rowsAs(own, sql`delete from ${sql.table(name)}`), denied, name)
    await t.rejects(sql`delete from ${sql.table(name)}`.execute(owner), /append-only/, `${name}, by the owner`)
  }
})

await t.test('the role of companies owns nothing, is nobody else and can become nothing more', async (t) => {
  const { rows: [facts] } = await sql`
    select rolsuper, rolinherit and exists (select from pg_auth_members
      where member = pg_roles.oid) as member, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication, rolbypassrls,
      has_schema_privilege(rolname, 'public', 'create') as creates,
      exists (select from pg_class where relowner = pg_roles.oid) or exists (select from pg_proc where proowner = pg_roles.oid) as owns
    from pg_roles where rolname = ${role}`.execute(owner)
  t.same(facts, {
    rolsuper: false,
    member: false,
    rolcreaterole: false,
    rolcreatedb: false,
    rolcanlogin: false,
    rolreplication: false,
    rolbypassrls: false,
    creates: false,
    owns: false
  })
  for (const statement of [
    sql`alter role ${sql.ref(role)} superuser`,
    sql`alter role ${sql.ref(role)} bypassrls`,
    sql`create role another`,
    sql`create table mine (a integer)`,
    sql`create schema mine`,
    sql`alter table users disable row level security`,
    sql`drop policy company on users`,
    sql`grant select on signing_keys to ${sql.ref(role)}`,
    sql`truncate ledger`,
    sql`copy companies to program 'true'`,
    sql`select pg_read_file('/etc/passwd')`
  ]) await t.rejects(rowsAs(own, statement), /permission denied|must be owner/)
})

await t.test('a connection comes back from a company without role and company, also from work that failed', async (t) => {
  const whoAmI = async (queries: CompanyQueries | typeof owner): Promise<unknown> =>
    (await sql`select current_user = ${role} as bound, nullif(current_setting('app.company', true), '') as company`.execute(queries))
      .rows[0]
  await Promise.all(Array.from({ length: 60 }, async (_, index) => {
    const mine = index % 2 === 0 ? own : theirs
    if (index % 3 === 0) await t.rejects(company(mine, () => Promise.reject(new Error('failed'))))
    t.same(await company(mine, whoAmI), { bound: true, company: String(mine) })
    t.same(await whoAmI(owner), { bound: false, company: null })
  }))
})

await t.test('a transaction that a function begins is the company\'s from its first statement on', async (t) => {
  const { rows } = await sql<{ schema: string, name: string, source: string }>`
    select nspname as schema, proname as name, prosrc as source from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
    where nspname in (select nspname from pg_proc join pg_namespace on pg_namespace.oid = pronamespace where proname = 'become')
      order by 1, 2`.execute(owner)
  const calls = rows.filter(({ source }) => /\b(given|begun|settled|opened)\.company_id\b/.test(source))
  t.ok(calls.length >= 3)
  for (const { name, source } of calls) {
    contains(t, source, /begin\s+select \* into (\w+) from jsonb_to_record[^;]*;\s+perform \w+\.become\(\1\.company_id, moment\);/, name)
  }
  for (const schema of new Set(rows.map(({ schema }) => schema))) {
    await owner.transaction().execute(async (queries) => {
      await sql`select ${sql.ref(schema)}.become(${own}, now())`.execute(queries)
      const { rows: [state] } = await sql`select current_user = ${role} as bound, current_setting('app.company') as company`.execute(
        queries
      )
      t.same(state, { bound: true, company: String(own) }, schema)
    })
  }
})

await t.test('a company that is deleted leaves nothing in any table, and takes nothing of another along', async (t) => {
  const before = await dump(app, own)
  await sql`update companies set disabled_at = now() where company_id = ${theirs}`.execute(owner)
  await sql`update credits set held = 0 where company_id = ${theirs}`.execute(owner)
  await sql`update dispatches set status = 'cancelled', finished_at = now() where company_id = ${theirs} and status in ('queued', 'running')`
    .execute(owner)
  // The users of the tables that name no company.
  await sql`insert into known_clients (user_id, client, last_at) select user_id, 'client', now() from users where company_id = ${theirs}
    on conflict do nothing`.execute(owner)
  const users = sql`select user_id from users where company_id = ${theirs}`
  const { rows: [user] } = await sql<{ user_id: number }>`${users} limit 1`.execute(owner)
  await service.send('POST', `/api/v1/companies/${theirs}/deletion`, { body: { name: 'theirs' } }, operator)
  const step = createDeletionStep({
    database: app.get('database'),
    dataKeys: app.get('dataKeys'),
    files: app.get('files'),
    log: app.get('log'),
    newId: app.get('newId'),
    now: app.get('now'),
    dispatchRows: app.get('dispatchRows'),
    settles: 0
  })
  while (await step());
  const left = Object.entries(await dump(app, theirs)).flatMap(([name, rows]) => rows.length > 0 && name !== 'changes' ? [name] : [])
  t.strictSame(left, [])
  t.strictSame((await sql`select from known_clients where user_id = ${user?.user_id}`.execute(owner)).rows, [])
  has(t, await service.send('GET', `/api/v1/companies/${theirs}/deletion`, {}, operator), { status: 200, body: { status: 'finished' } })
  t.strictSame(await dump(app, own), before)
})
