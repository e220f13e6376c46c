import { Kysely, PostgresDialect, PostgresDriver, type RawBuilder, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { createCompanySemaphore } from '../tenants/company-semaphore.ts'
import { type AdvisoryLock, createAdvisoryLock } from './advisory-lock.ts'
import { type Connections, openConnections, requestLimits, type TimeLimits } from './connections.ts'
import type { Tables } from './schema.ts'
import type { SqlTimestamp } from './sql-timestamp.ts'

/** Queries inside one company's transaction: row-level security bounds what they see. */
export type CompanyQueries = Transaction<Tables>

/** Queries inside a transaction of the owner. */
export type OwnerQueries = Transaction<Tables>

export type Database = {
  /**
   * The time, by the clock of the database (the beginning of the transaction): leases, claims and due times are set and compared
   * by it alone, as the clocks of processes differ.
   */
  readonly now: SqlTimestamp
  /** The same as a value, which the database is asked for. */
  time: () => Promise<Date>
  /** The owner's queries: migrations, logins, matching across companies. For named functions of the store only. */
  owner: Kysely<Tables>
  /** The owner's queries by which a process stays alive, on connections of their own: no work that hangs keeps them waiting. */
  vital: Kysely<Tables>
  /** The owner's connections themselves, for a library that brings its own queries. */
  pool: pg.Pool
  /**
   * Runs work in one transaction under the role of companies; it commits when the promise resolves. A company has half of these connections
   * at most.
   */
  company: <T>(companyId: number, work: (queries: CompanyQueries) => Promise<T>) => Promise<T>
  /**
   * Runs one statement of the owner's in one message, which bounds itself to the company: a call of `calls.ts`. It counts among the
   * company's connections.
   */
  callFunction: <T>(companyId: number, statement: RawBuilder<T>) => Promise<T | undefined>
  /** As `company`, for what only reads: all its queries see the same moment. */
  snapshot: <T>(companyId: number, work: (queries: CompanyQueries) => Promise<T>) => Promise<T>
  /** For what a start or an installation changes: it waits up to 2 minutes for others who are at it. */
  withAdvisoryLock: AdvisoryLock
  /** Rejects with `DatabaseUnavailable` when the database does not answer within 2 seconds, or takes no changes. */
  ping: () => Promise<void>
  close: () => Promise<void>
}

/**
 * `connections`: for what companies do; what the owner does and what is vital have their own beside them. `time` stands in for the clock of
 * the database, where a test fixes it.
 */
export type DatabaseOptions = {
  connections?: number
  limits?: TimeLimits
  onError: (error: Error) => void
  time?: (() => Date) | undefined
}

/** Connections of the owner, and those for what is vital; with the ten for companies and the four of the queue a process has twenty. */
const [ownersConnections, vitalConnections] = [4, 2]

/** The owner's statements go through more than a request's. */
const ownersLimits = (limits: TimeLimits): TimeLimits => ({ ...limits, statement: 3 * limits.statement, answer: 3 * limits.answer })

/** Milliseconds: what is vital must not wait for what has gone wrong. */
const vitalLimits: TimeLimits = { connect: 2_000, lock: 500, statement: 1_500, idle: 1_500, answer: 2_000 }

/** Fails as any change would, where there are none: also before there is a table. */
const takesChanges = sql`do $$ begin
  if pg_catalog.current_setting('transaction_read_only')::boolean then raise exception
    using errcode = 'read_only_sql_transaction', message = 'The server takes no changes.'; end if;
end $$`

/**
 * Opens the connections of a process, which are made when they are needed. The loss of one goes to `onError`, whether it was in use or
 * idle, until they are closed; it is replaced.
 */
export function openDatabase (
  config: pg.PoolConfig,
  { connections = 10, limits = requestLimits, onError, time }: DatabaseOptions
): Database {
  const companies = openConnections(config, { name: 'companies', most: connections, limits, onError })
  const owners = openConnections(config, { name: 'owner', most: ownersConnections, limits: ownersLimits(limits), onError })
  const vitals = openConnections(config, { name: 'vital', most: vitalConnections, limits: vitalLimits, onError })
  const [owner, vital] = [owners, vitals].map(({ lent: pool }) => new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })) as [
    Kysely<Tables>,
    Kysely<Tables>
  ]
  const ofCompanies = new Kysely<Tables>({ dialect: unbegun(companies) })
  const shares = createCompanySemaphore({ each: Math.max(1, Math.floor(connections / 2)), patience: limits.connect })
  const beginningWith = (begin: string): Database['company'] => (companyId, work) =>
    shares.run(companyId, () =>
      ofCompanies.transaction().execute(async (transaction) => {
        // It stands in the text of the statement: one that takes parameters cannot hold several.
        if (!Number.isSafeInteger(companyId)) throw new TypeError('A company is named by a whole number.')
        await sql.raw(`${begin}; set local role dispatch_company; set local app.company = '${companyId}'; set local app.moment = ` +
          `'${time === undefined ? 'now' : time().toISOString()}'`).execute(transaction)
        return work(transaction)
      }))
  const moment = (): SqlTimestamp => time === undefined ? sql<Date>`now()` : sql<Date>`${time()}::timestamptz`
  return {
    get now () {
      return moment()
    },
    async time () {
      const { rows: [asked] } = await sql<{ now: Date }>`select ${moment()} as now`.execute(owner)
      if (asked === undefined) throw new TypeError('The database told no time.')
      return asked.now
    },
    owner,
    vital,
    pool: owners.pool,
    callFunction: (companyId, statement) => shares.run(companyId, async () => (await statement.execute(ofCompanies)).rows[0]),
    company: beginningWith('begin'),
    snapshot: beginningWith('begin isolation level repeatable read read only'),
    withAdvisoryLock: createAdvisoryLock(config),
    ping: async () => {
      await takesChanges.execute(vital)
    },
    close: async () => {
      await Promise.all([owner, vital, ofCompanies].map((queries) => queries.destroy()))
    }
  }
}

/** Goes on with a company's transaction as the owner: to add jobs to the queue with what they are about. */
export async function asOwner (queries: CompanyQueries): Promise<OwnerQueries> {
  await sql`set local role none`.execute(queries)
  return queries
}

/** Leaves it to the first statement of a transaction to begin it, so that everything before the work is one message to wait for. */
function unbegun ({ lent: pool }: Connections): PostgresDialect {
  const dialect = new PostgresDialect({ pool })
  dialect.createDriver = () => Object.assign(new PostgresDriver({ pool }), { beginTransaction: () => Promise.resolve() })
  return dialect
}
