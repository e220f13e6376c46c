import pg from 'pg'
import { smoke } from './effort.ts'

/** How many dispatches are stored where there are many. */
export const stored = smoke ? 1_000 : Number(process.env['BENCH_STORED'] ?? 1_000_000)

/** One company has one of so many dispatches, where there are several companies. */
const shareOfFirst = 5

/** How many steps per second there were: this gives the interval between them. */
const interval = '1 second'

/**
 * Whose the dispatches are, as indexes of the companies: every fifth is of the first company, and the others share the rest evenly. So the
 * planner knows one company with many rows and many with few.
 */
const owner = `case when $2::integer = 1 or n % ${shareOfFirst} = 0 then 1 else 2 + (n / ${shareOfFirst}) % ($2::integer - 1) end`

/** Creates the requested number of successful dispatches of SMS and invoices, with the rows that the service would leave. */
const statements = [
  `create temporary table old as
    select n, company_id, user_id, now() - n * interval '${interval}' as at, n % 2 = 0 as paid,
      (lpad(to_hex((extract(epoch from now() - n * interval '${interval}') * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid as dispatch_id,
      (lpad(to_hex((extract(epoch from now() - n * interval '${interval}') * 1000)::bigint), 12, '0') || '7' || substr(md5('step' || n), 1, 3) || '8' || substr(md5('step' || n), 4, 15))::uuid as step_id
    from generate_series($1::integer, 1, -1) as n join owners on nth = ${owner} order by n desc`,
  `insert into dispatches (dispatch_id, company_id, user_id, status, services, template_id, template_version, data, metadata, document_type, document_number, recipient, request_id, created_at, finished_at, detached)
    select dispatch_id, company_id, user_id, 'succeeded', array[case when paid then 'invoicing' else 'sms' end], case when paid then 1 end, case when paid then 1 end,
      case when n < $1 / 10 then jsonb_build_object('number', n, 'customer', jsonb_build_object('name', 'Ada Lovelace', 'city', 'London'), 'lines', '[]'::jsonb) end, jsonb_build_object('orderId', 'A-' || n),
      case when paid then 'INVOICE' end, case when paid then '2026-' || n end, case when paid then 'customer-' || n || '@example.com' end, 'req-' || n, at, at, not paid
    from old`,
  `insert into dispatch_metadata (company_id, pair, dispatch_id)
    select company_id, metadata_pair('orderId', 'A-' || n), dispatch_id from old`,
  `insert into steps (step_id, company_id, dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by, sandbox, fields, request_settings, price, held, charged, status, remote_id, response)
    select step_id, company_id, dispatch_id, 0, case when paid then 'invoicing' else 'sms' end, 'simulator', '1.0.0', 'company', 'company', false,
      (case when paid then '{"documentType":"INVOICE"}' else '{"phoneNumber":"+447700900123","message":"Your order is ready."}' end)::jsonb, '{}',
      case when paid then 1 else 0 end, 0, case when paid then 1 else 0 end, 'accepted', 'sim_' || n, jsonb_build_object('id', 'sim_' || n, 'status', 'accepted')
    from old`,
  'insert into attempts (step_id, number, company_id, provider_version, started_at, answered_at, outcome) select step_id, 1, ' +
  'company_id, \'1.0.0\', at, at, \'accepted\' from old',
  `insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
    select company_id, dispatch_id, case when kind = 'planned' then null else step_id end, kind, '{"kind":"system"}', '{"providerName":"simulator","providerVersion":"1.0.0"}', at
    from old, unnest(array['planned', 'calling', 'answered']) as kind`,
  `insert into ledger (company_id, kind, amount, balance, dispatch_id, step_id, reason, at)
    select company_id, 'debit', -1, 1000000000 - n, dispatch_id, step_id, 'Dispatch accepted', at from old where paid`
]

/** The companies of the benchmark, each with a user, in the order in which they were made. */
const owners = `create temporary table owners as
  select row_number() over (order by company_id) as nth, company_id, min(user_id) as user_id
  from companies join users using (company_id) where name like 'Bench %' group by company_id`

/** The nth dispatch of a company, counted from the newest, among all that were stored; it is an invoice. The first company is number 1. */
export function invoiceOf (company: number, companies: number, nth: number): number {
  if (companies === 1) return 2 * nth
  return company === 1 ? 2 * shareOfFirst * nth : shareOfFirst * ((companies - 1) * 2 * nth + company - 2) + (company % 2 === 0 ? 2 : 1)
}

/** The indexes that no constraint has: made again after the rows, they take a fraction of the time. */
const indexes = `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
  where indrelid = any ('{dispatches,dispatch_metadata,steps,attempts,events,ledger}'::regclass[]) and not indisunique`

/** Stores so many dispatches, as if they had been made a second apart until now. */
export async function grow (databaseUrl: string, amount: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  // Foreign keys are not checked: they hold by construction.
  await client.query(
    'set session_replication_role = \'replica\'; set synchronous_commit = off; set work_mem = \'64MB\'; set maintenance_work_mem = \'1GB\''
  )
  const { rowCount: companies } = await client.query(owners)
  const { rows: dropped } = await client.query<{ name: string, definition: string }>(indexes)
  for (const { name } of dropped) await client.query(`drop index ${name}`)
  for (const statement of statements) {
    await client.query(statement, [amount, companies].slice(0, statement.includes('$2') ? 2 : statement.includes('$1') ? 1 : 0))
  }
  await client.query('drop table old, owners')
  for (const { definition } of dropped) await client.query(definition)
  await client.query('vacuum analyze')
  await client.end()
}
