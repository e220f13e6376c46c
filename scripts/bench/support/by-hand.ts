import { randomUUIDv7 } from 'node:crypto'
import pg from 'pg'
import { type Rate, rateOf } from './measure.ts'
import { smsRequest } from './sms.ts'

/** The number of connections of the service to its database. */
const connections = 10

const tables = `
  create schema by_hand;
  create table by_hand.credits (company_id integer primary key, balance bigint not null, held bigint not null default 0);
  create table by_hand.dispatches (dispatch_id uuid primary key, company_id integer not null, status text not null, request jsonb not null,
    response jsonb, created_at timestamptz not null default now(), finished_at timestamptz);
  create table by_hand.attempts (attempt_id bigint generated always as identity primary key, dispatch_id uuid not null,
    started_at timestamptz not null default now());
  create table by_hand.ledger (entry_id bigint generated always as identity primary key, company_id integer not null,
    dispatch_id uuid not null, amount integer not null, at timestamptz not null default now());
  create table by_hand.jobs (job_id uuid primary key, dispatch_id uuid not null, at timestamptz not null default now());`

const open = (name: string, status: string, beside: string): pg.QueryConfig => ({
  name,
  text: `with opened as (
    insert into by_hand.dispatches (dispatch_id, company_id, status, request) values ($1, $2, '${status}', $3)
  ), beside as (${beside})
  update by_hand.credits set held = held + 1 where company_id = $2 and balance - held >= 1`
})
const begun = open('begun', 'running', 'insert into by_hand.attempts (dispatch_id) values ($1)')
const queued = open('queued', 'queued', 'insert into by_hand.jobs (job_id, dispatch_id) values ($1, $1)')
const settled: pg.QueryConfig = {
  name: 'settled',
  text: `with settled as (
    update by_hand.dispatches set status = 'succeeded', response = $3, finished_at = now() where dispatch_id = $1
  ), charged as (insert into by_hand.ledger (company_id, dispatch_id, amount) values ($2, $1, -1))
  update by_hand.credits set held = held - 1, balance = balance - 1 where company_id = $2`
}

/** The transactions of a dispatch of a company, each of them one prepared statement, one message. */
export type Transactions = Record<'begin' | 'queue', (id: string, company: number) => Promise<unknown>> & {
  settle: (id: string, company: number, response: unknown) => Promise<unknown>
}

/**
 * The least that a dispatch can write and lose nothing, without anything of ours: its row, its attempt and the hold of its price; then its
 * result, the entry in the ledger and the price. On one connection, or those of a pool.
 */
export function transactionsOn (connection: { query: (statement: pg.QueryConfig) => Promise<unknown> }): Transactions {
  const record = (statement: pg.QueryConfig) => (id: string, company: number): Promise<unknown> =>
    connection.query({ ...statement, values: [id, company, JSON.stringify(smsRequest(id))] })
  return {
    begin: record(begun),
    queue: record(queued),
    settle: (id, company, response) => connection.query({ ...settled, values: [id, company, JSON.stringify(response)] })
  }
}

/** The same on connections of their own, with the tables that they write. */
export async function openTransactions (databaseUrl: string, companies: number): Promise<Transactions & { close: () => Promise<void> }> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: connections })
  // The server ends before the last connection has closed.
  pool.on('error', () => undefined)
  await pool.query(tables)
  await pool.query('insert into by_hand.credits (company_id, balance) select id, 1000000000 from generate_series(1, $1) as id', [companies])
  return { ...transactionsOn(pool), close: () => pool.end() }
}

/** `dispatches`: two transactions each, `queued`: one. */
export type ByHand = { dispatches: Rate, queued: Rate, close: () => Promise<void> }

/** How often per second these transactions can be made. */
export async function openByHand ({ databaseUrl, companies, seconds }: {
  databaseUrl: string
  companies: number
  seconds: number
}): Promise<ByHand> {
  const { begin, settle, queue, close } = await openTransactions(databaseUrl, companies)
  let nth = 0
  const next = (): [id: string, company: number] => [randomUUIDv7(), 1 + nth++ % companies]
  return {
    dispatches: rateOf(seconds, async () => {
      const [id, company] = next()
      await begin(id, company)
      await settle(id, company, { id, status: 'accepted' })
    }),
    queued: rateOf(seconds, () => queue(...next())),
    close
  }
}
