import { createHash } from 'node:crypto'
import { Kysely, PostgresDialect, PostgresDriver, sql, type Transaction } from 'kysely'
import pg from 'pg'
import type { Tables } from './schema.ts'

/** Queries inside one company's transaction: row-level security bounds what they see. */
export type CompanyQueries = Transaction<Tables>

/** Queries inside a transaction of the owner. */
export type OwnerQueries = Transaction<Tables>

export type Database = {
  /** The owner's queries: migrations, logins, matching across companies. For named functions of the store only. */
  owner: Kysely<Tables>
  /** The connections themselves, for a library that brings its own queries. */
  pool: pg.Pool
  /** Runs work in one transaction under the role of companies; it commits when the promise resolves. */
  company: <T>(companyId: number, work: (queries: CompanyQueries) => Promise<T>) => Promise<T>
  /** As `company`, for what only reads: all its queries see the same moment. */
  snapshot: <T>(companyId: number, work: (queries: CompanyQueries) => Promise<T>) => Promise<T>
  /** Rejects when the database does not answer. */
  ping: () => Promise<void>
  close: () => Promise<void>
}

/** Opens a pool of at most `connections` connections. The loss of one goes to `onError`, whether it was in use or idle, until the pool is closed; the pool replaces it. */
export function openDatabase (config: pg.PoolConfig, { connections = 10, onError }: { connections?: number, onError: (error: Error) => void }): Database {
  const pool = new pg.Pool({ ...config, max: connections, connectionTimeoutMillis: 10_000 })
  pool.on('error', repeated).on('connect', (client) => {
    // Without a listener, a connection that is lost while in use would end the process.
    client.once('error', (error: Error) => { if (!pool.ending) onError(error) }).on('error', repeated)
  })
  nameStatements(pool)
  const owner = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const companies = new Kysely<Tables>({ dialect: unbegun(pool) })
  const beginningWith = (begin: string): Database['company'] => (companyId, work) => companies.transaction().execute(async (transaction) => {
    // It stands in the text of the statement: one that takes parameters cannot hold several.
    if (!Number.isSafeInteger(companyId)) throw new TypeError('A company is named by a whole number.')
    await sql.raw(`${begin}; set local role dispatch_company; set local app.company = '${companyId}'`).execute(transaction)
    return work(transaction)
  })
  return {
    owner,
    pool,
    company: beginningWith('begin'),
    snapshot: beginningWith('begin isolation level repeatable read read only'),
    ping: async () => { await sql`select 1`.execute(owner) },
    close: () => owner.destroy()
  }
}

/** Goes on with a company's transaction as the owner: to add jobs to the queue with what they are about. */
export async function asOwner (queries: CompanyQueries): Promise<OwnerQueries> {
  await sql`set local role none`.execute(queries)
  return queries
}

/** A connection for libraries that listen to no loss of it: their queries tell of it, and it ends no process. */
export class LastingClient extends pg.Client {
  constructor (config?: string | pg.ClientConfig) {
    super(config)
    this.on('error', repeated)
  }
}

/** For what has been told already: the server says why it ends a connection before it does, and the pool repeats what idle ones say. */
function repeated (): void {
  // Nothing is left to tell.
}

/** Leaves it to the first statement of a transaction to begin it, so that everything before the work is one message to wait for. */
function unbegun (pool: pg.Pool): PostgresDialect {
  const dialect = new PostgresDialect({ pool })
  dialect.createDriver = () => Object.assign(new PostgresDriver({ pool }), { beginTransaction: () => Promise.resolve() })
  return dialect
}

/** Beyond these, statements go unnamed: every name costs memory in each server process. */
const mostNames = 500

/** Names every parametrised statement by the hash of its text, so that each connection plans it once (about twice the throughput). */
function nameStatements (pool: pg.Pool): void {
  const names = new Map<string, string>()
  const nameOf = (text: string): string | undefined => {
    if (!names.has(text) && names.size < mostNames) names.set(text, createHash('sha1').update(text).digest('base64url'))
    return names.get(text)
  }
  pool.on('connect', (client: { query: (...args: unknown[]) => unknown }) => {
    const query = client.query.bind(client)
    client.query = (...args) => {
      const [text, values, ...rest] = args
      const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 && rest.length === 0 ? nameOf(text) : undefined
      return name === undefined ? query(...args) : query({ name, text, values })
    }
  })
}
