import { createBatcher, withTimeLimit } from '@dispatch/common'
import { Kysely, type KyselyPlugin, PostgresDialect, sql, type Transaction } from 'kysely'
import pg from 'pg'
import { type AdvisoryLock, createAdvisoryLock, type LockWait } from './advisory-lock.ts'
import { type CompanyQueries, companyTransactions } from './company-transactions.ts'
import type { Destination } from './connection-failure.ts'
import { connectAlone, type Connections, connectionSettings, ignoreRepeatedError, openConnections, requestLimits,
  type TimeLimits } from './connections.ts'
import { NamesDialect } from './dialect.ts'
import { createLifeMemory, type LifeMemory } from './life-memory.ts'
import { followReplica, type ReplicaOptions } from './replica.ts'
import { createSharedRun } from './shared-run.ts'
import type { SqlTimestamp } from './sql-timestamp.ts'
import type { StoredTables } from './tables.ts'
import { DatabaseUnavailable, statementError } from './unavailable.ts'

export type { CompanyQueries } from './company-transactions.ts'

/** Queries inside a transaction of the owner. */
export type OwnerQueries = Transaction<StoredTables>

/** What a function of the database answers, and when its transaction began. */
export type FunctionAnswer = { answer: unknown, at: Date }

/** A call of a function, and what came of it. `flushed`: it is on the disk. */
type Call = { companyId: number, name: string, given: string }
type Called = { row: FunctionAnswer | undefined, flushed: boolean }

/** How many connections a pool has, how many of them are idle, and how much work waits for one. */
type ConnectionCounts = { open: number, idle: number, waiting: number }

export type Database = {
  /**
   * The time by the clock of the database, when the transaction began. Leases, claims and due times are set and compared by this clock
   * alone, because the clocks of processes differ.
   */
  readonly now: SqlTimestamp
  /** The same time as a value; it costs a query. */
  time: () => Promise<Date>
  /** What this process has seen of how far the database has come. */
  readonly life: LifeMemory
  /** Queries as the owner of the database: migrations, logins, searches across companies. Only named functions of the store use it. */
  owner: Kysely<StoredTables>
  /** Queries as the owner for health and leases. They have connections of their own, so that stuck work does not block them. */
  vital: Kysely<StoredTables>
  /** Runs work as the owner on the server itself, past a pooler: for migrations. */
  onServer: <T>(work: (queries: Kysely<StoredTables>) => Promise<T>) => Promise<T>
  /** The connections of the owner, for a library that brings its own queries. */
  pool: pg.Pool
  /**
   * Runs work in one transaction under the role of companies. It commits when the promise resolves. One company uses at most half of the
   * connections.
   */
  company: <T>(companyId: number, work: (queries: CompanyQueries) => Promise<T>) => Promise<T>
  /**
   * Calls a function of the database in one message and a transaction of its own; the function takes on the role of companies itself
   * (`database-functions.ts` has the typed form). `name`: as it stands in a statement; `given`: JSON. The row tells when the
   * transaction began, too. It counts among the connections of the company. What it has changed is on the disk when the
   * promise resolves; calls at the same time wait for the disk together. Those of one company that come while one of the same function is
   * under way share a message and a transaction; where that fails, each is made by itself.
   */
  callFunction: (companyId: number, name: string, given: string) => Promise<FunctionAnswer | undefined>
  /** Like `company`, but read-only: all queries see the same state of the database. */
  snapshot: <T>(companyId: number, work: (queries: CompanyQueries) => Promise<T>) => Promise<T>
  /**
   * Like `snapshot`, of a replica where there is one that is not too far behind: for lists and counts, whose readers do not miss the last
   * seconds. Nothing may be decided by what it reads.
   */
  reading: <T>(companyId: number, work: (queries: CompanyQueries) => Promise<T>) => Promise<T>
  /** Whether `reading` reads from a replica; undefined where there is none. */
  readsReplica?: () => boolean
  /**
   * Runs work on a connection of its own to the server itself, without limits of time. Where its process is killed, the server ends the
   * statement within seconds, if its system lets it.
   */
  session: <T>(work: (client: pg.Client) => Promise<T>) => Promise<T>
  /**
   * For changes that only one process may make at a time, such as migrations. It waits up to 2 minutes for the others; then it throws
   * `DatabaseUnavailable`, which says whom it has waited for.
   */
  withAdvisoryLock: AdvisoryLock
  /** Of each pool. */
  connectionCounts: () => Record<'companies' | 'commits' | 'owner' | 'vital', ConnectionCounts> & { replica?: ConnectionCounts }
  /**
   * Rejects with `DatabaseUnavailable` where requests would fail too: the database does not answer within 2 seconds, takes no changes, has
   * no room on its disk, or waits for a standby. It writes.
   */
  ping: () => Promise<void>
  /** Rejects where the server does not answer or takes no changes, also the one behind a pooler: what a start and a command need. */
  reach: () => Promise<void>
  close: () => Promise<void>
}

/**
 * `connections`: how many all companies share; other pools have ten more. `directUrl`: the server itself, where the address of the database
 * is a pooler of transactions. `replica`: where `reading` reads. `plugins`: what sees all queries and all that they answer. `onWait` hears
 * who has the lock that `withAdvisoryLock` waits for. `time` replaces the clock of the database in tests.
 */
export type DatabaseOptions = {
  connections?: number | undefined
  directUrl?: string | undefined
  replica?: ReplicaOptions | undefined
  plugins?: KyselyPlugin[]
  limits?: TimeLimits
  onError: (error: Error) => void
  onWait?: ((wait: LockWait) => void) | undefined
  time?: (() => Date) | undefined
}

/** With the nine for companies and the four of the queue a process has twenty connections. */
const [commitsConnections, ownersConnections, vitalConnections] = [1, 4, 2]

/** The owner's statements read and change more rows than those of a request. */
const ownersLimits = (limits: TimeLimits): TimeLimits => ({ ...limits, statement: 3 * limits.statement, answer: 3 * limits.answer })

/** In milliseconds. They are short: health and leases must not wait for a database that is stuck. */
const vitalLimits: TimeLimits = { connect: 2_000, lock: 500, statement: 1_500, idle: 1_500, answer: 2_000 }

/** Fails where the database is read-only, as any change would. It needs no table. */
const takesChanges = sql`do $$ begin
  if pg_catalog.current_setting('transaction_read_only')::boolean then raise exception
    using errcode = 'read_only_sql_transaction', message = 'The server takes no changes.'; end if;
end $$`

/**
 * What a request needs of the server: that it takes changes; room on its disk, here for a temporary file, which a full one refuses; and a
 * commit that waits for the disk, and for a synchronous standby. A record is written to the log of the server, which nobody reads.
 */
const probing = `do $$ begin
  if pg_catalog.current_setting('transaction_read_only')::boolean then raise exception
    using errcode = 'read_only_sql_transaction', message = 'The server takes no changes.'; end if;
  perform pg_catalog.set_config('work_mem', '64kB', true);
  perform count(*) from pg_catalog.generate_series(1, 5000);
  perform pg_catalog.pg_logical_emit_message(true, 'dispatch', '');
end $$`

/** Milliseconds: how long who asks waits for a probe, when a silent one gets a second beside it, and when each is given up. */
const [probeTimeoutMs, probeSilenceMs, probeLimitMs] = [2_000, 5_000, 60_000]

/**
 * One probe is under way at a time, and a second where the first is silent: where the server does not commit, each holds one of its
 * connections. The second one has a new connection, because that of the first may lead nowhere any more. Whoever asks meanwhile waits for
 * the one that answers first.
 */
function createProbe (to: Destination, { healthy, pool }: Connections): () => Promise<void> {
  const underWay = new Map<Promise<void>, number>()
  // The limit of this one statement, in place of the connection's.
  const requested: pg.QueryConfig & { query_timeout: number } = { text: probing, query_timeout: probeLimitMs }
  async function first (): Promise<void> {
    const client = await healthy.connect()
    try {
      await client.query(requested)
    } finally {
      client.release()
    }
  }
  async function second (): Promise<void> {
    const client = await connectAlone(to, 'probe', pool.options)
    try {
      await client.query(requested)
    } catch (error) {
      throw statementError(error)
    } finally {
      void client.end()
    }
  }
  function begin (probe: () => Promise<void>): void {
    const begun = probe()
    underWay.set(begun, performance.now())
    const over = (): void => {
      underWay.delete(begun)
    }
    begun.then(over, over)
  }
  return async () => {
    const [silent] = underWay.values()
    if (silent === undefined) begin(first)
    else if (underWay.size === 1 && performance.now() - silent > probeSilenceMs) begin(second)
    await withTimeLimit(probeTimeoutMs, Promise.race(underWay.keys()), () => new DatabaseUnavailable('away'))
  }
}

/** Writes a record to the log of the server that nobody reads. Its commit waits for the disk, and so for all commits before it. */
const flushing = sql`select pg_logical_emit_message(true, 'dispatch', '')`

/** In milliseconds: under load, several transactions share a flush, which takes about as long. */
const betweenFlushes = 2

/** How many calls share a message, and how many characters they may have together. */
const [maxTogether, maxCharacters] = [8, 256 * 1024]

/** In milliseconds. A call waits for a message before it, and a message that calls share for a lock, no longer than this. */
const [sharedFor, sharedLock] = [20, 100]

/** The commit of the transaction does not wait for the disk. */
const notWaiting = ', set_config(\'synchronous_commit\', \'off\', true) as committed'

/**
 * Opens the pools of a process. A connection is made when it is needed. When one is lost, `onError` is called, and it is replaced. Queries
 * throw `DatabaseUnavailable` where the database fails, and not the statement.
 */
export function openDatabase (
  config: pg.PoolConfig,
  { connections = 9, directUrl, replica, plugins = [], limits = requestLimits, onError, onWait, time }: DatabaseOptions
): Database {
  const through = directUrl === undefined ? 'server' : 'pooler'
  const database = { setting: 'DATABASE_URL', config }
  const direct = directUrl === undefined
    ? database
    : { setting: 'DATABASE_DIRECT_URL', config: { ...config, connectionString: directUrl } }
  const companies = openConnections(database, { name: 'companies', max: connections, limits, through, onError })
  const commits = openConnections(database, { name: 'commits', max: commitsConnections, limits, through, onError })
  const owners = openConnections(database, { name: 'owner', max: ownersConnections, limits: ownersLimits(limits), through, onError })
  const vitals = openConnections(database, { name: 'vital', max: vitalConnections, limits: vitalLimits, through, onError })
  const [owner, vital, flusher] = [owners, vitals, commits].map(({ healthy: pool }) =>
    new Kysely<StoredTables>({ dialect: new NamesDialect({ pool }), plugins })
  ) as [Kysely<StoredTables>, Kysely<StoredTables>, Kysely<StoredTables>]
  const ofCompanies = companyTransactions(companies, { connections, limits, through, plugins, time })
  const callFunction = createFunctionCalls({ companies, ofCompanies, flusher, limits, through, time })
  const read = replica &&
    openReplica(replica, { vital, snapshot: ofCompanies.snapshot }, { connections, limits, through, plugins, onError, time })
  const moment = (): SqlTimestamp => time === undefined ? sql<Date>`now()` : sql<Date>`${time()}::timestamptz`
  return {
    get now () {
      return moment()
    },
    async time () {
      const { rows: [requested] } = await sql<{ now: Date }>`select ${moment()} as now`.execute(owner)
      if (requested === undefined) throw new TypeError('The database told no time.')
      return requested.now
    },
    life: createLifeMemory(),
    owner,
    vital,
    async onServer (work) {
      if (directUrl === undefined) return work(owner)
      const { healthy: pool } = openConnections(direct, { name: 'migration', max: 2, limits: ownersLimits(limits), onError })
      const queries = new Kysely<StoredTables>({ dialect: new NamesDialect({ pool }) })
      try {
        return await work(queries)
      } finally {
        await queries.destroy()
      }
    },
    pool: owners.pool,
    callFunction,
    company: ofCompanies.company,
    snapshot: ofCompanies.snapshot,
    reading: read?.reading ?? ofCompanies.snapshot,
    ...(read === undefined ? {} : { readsReplica: read.used }),
    session: (work) => withSession(direct, work),
    withAdvisoryLock: createAdvisoryLock(direct, { onWait }),
    connectionCounts: () => ({
      companies: countsOf(companies),
      commits: countsOf(commits),
      owner: countsOf(owners),
      vital: countsOf(vitals),
      ...(read === undefined ? {} : { replica: countsOf(read.pool) })
    }),
    ping: createProbe(database, vitals),
    reach: async () => {
      await takesChanges.execute(vital)
      if (directUrl !== undefined) await withSession(direct, () => Promise.resolve())
    },
    close: async () => {
      await read?.close()
      await Promise.all([owner, vital, flusher, ofCompanies.queries].map((queries) => queries.destroy()))
      // Kysely ends no pool that only calls or probes have used.
      await Promise.all([companies, vitals].map(async ({ pool, healthy }) => pool.ending || await healthy.end()))
    }
  }
}

type Calling = {
  companies: Connections
  ofCompanies: ReturnType<typeof companyTransactions>
  flusher: Kysely<StoredTables>
  limits: TimeLimits
  through: 'server' | 'pooler'
  time: DatabaseOptions['time']
}

/**
 * Calls functions of the database, several of a company in one message. Each transaction commits without waiting for the disk: its locks
 * are free, and others see its changes. A flush writes all of them to the disk. What was committed later is never on the disk without what
 * was committed before, so no order is lost in a crash.
 */
function createFunctionCalls ({ companies, ofCompanies, flusher, limits, through, time }: Calling): Database['callFunction'] {
  const flush = createSharedRun(async () => {
    await flushing.execute(flusher).catch((cause: unknown) => {
      // What was committed is known to others; whether a crash would lose it is not.
      throw new DatabaseUnavailable(cause instanceof DatabaseUnavailable ? cause.reason : 'away', { cause, uncertain: true })
    })
  }, { minInterval: betweenFlushes })
  // Written by hand, without a query builder, because every dispatch sends two of them.
  const at = time === undefined ? 'now()' : '$2::timestamptz'
  // Of one statement only the wait for locks can be bounded in itself.
  const boundedBy = (lock: number): string => `set_config('lock_timeout', '${lock}', true) as bounded, `
  const bounded = through === 'server' ? '' : boundedBy(limits.lock)
  /** `after`: what the transaction sets after the function, so that the limit holds while it runs. */
  const callOf = (name: string, after: string): string => `select ${bounded}${name}($1::jsonb, ${at}) as answer, ${at} as at${after}`
  const callsOf = (name: string): string =>
    `select ${
      boundedBy(sharedLock)
    }${name}(given, ${at}) as answer, ${at} as at${notWaiting} from jsonb_array_elements($1::jsonb) as called (given)`
  /** Calls that are under way. */
  let calls = 0
  const valuesOf = (given: string): unknown[] => time === undefined ? [given] : [given, time()]
  const ask = (companyId: number, text: string, given: string): Promise<FunctionAnswer[]> =>
    ofCompanies.share(companyId, () => queryOnce<FunctionAnswer>(companies, text, valuesOf(given)))
  const callOne = async ({ companyId, name, given }: Call): Promise<Called> => {
    // Alone, a call has nobody to share the wait for the disk with: its own commit waits.
    const alone = calls === 1
    const [row] = await ask(companyId, callOf(name, alone ? '' : notWaiting), given)
    return { row, flushed: alone }
  }
  const shared = createBatcher<Call, Called>(async ([first, ...others]) => {
    if (others.length === 0) return [await callOne(first)]
    const all = [first, ...others]
    const given = `[${all.map((one) => one.given).join()}]`
    if (given.length > maxCharacters) return all.map(callOne)
    try {
      const rows = await ask(first.companyId, callsOf(first.name), given)
      return rows.map((row) => ({ row, flushed: false }))
    } catch (error) {
      // Without a code no connection came free in time, for any of them.
      if (error instanceof DatabaseUnavailable && (error.reason !== 'busy' || error.code === '')) throw error
      // Nothing of it was done. What is wrong with one of them must neither fail the others nor hold them up.
      return all.map(callOne)
    }
  }, { maxBatch: maxTogether, timeoutMs: sharedFor })
  return async (companyId, name, given) => {
    calls++
    try {
      const { row, flushed } = await shared.put({ companyId, name, given }, `${companyId} ${name}`)
      if (!flushed) await flush()
      return row
    } finally {
      calls--
    }
  }
}

/** One statement that is a transaction of its own. */
async function queryOnce<Row extends object> ({ healthy }: Connections, text: string, values: unknown[]): Promise<Row[]> {
  const client = await healthy.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    client.release()
  }
}

const unlimited: TimeLimits = { connect: 5_000, lock: 0, statement: 0, idle: 0, answer: 0 }

async function withSession<T> (to: Destination, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectAlone(to, 'session', connectionSettings(unlimited))
  try {
    // Not every system can tell that a client is gone.
    await client.query('set client_connection_check_interval = \'10s\'').catch(() => undefined)
    return await work(client)
  } finally {
    await client.end()
  }
}

type OpeningOptions = Parameters<typeof companyTransactions>[1] & Pick<DatabaseOptions, 'onError'>

/** Reads go through a pool of their own; looks have another one, so that stuck reads do not hide how far behind the replica is. */
function openReplica (
  replica: ReplicaOptions,
  primary: Parameters<typeof followReplica>[1]['primary'],
  { onError, ...options }: OpeningOptions
) {
  const server = { setting: 'DATABASE_READ_URL', config: { connectionString: replica.url } }
  const { connections: max, limits, through } = options
  const pool = openConnections(server, { name: 'replica', max, limits, through, onError })
  const looks = openConnections(server, { name: 'replica look', max: 1, limits: vitalLimits, through, onError: ignoreRepeatedError })
  const queries = new Kysely<StoredTables>({ dialect: new PostgresDialect({ pool: looks.healthy }) })
  const ofCompanies = companyTransactions(pool, options)
  const followed = followReplica(replica, { primary, replica: { queries, snapshot: ofCompanies.snapshot } })
  return {
    ...followed,
    pool,
    async close () {
      await followed.close()
      await Promise.all([queries.destroy(), ofCompanies.queries.destroy()])
    }
  }
}

function countsOf ({ pool }: Connections): ConnectionCounts {
  return { open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }
}

/** Continues a company's transaction as the owner, who may add jobs to the queue. */
export async function asOwner (queries: CompanyQueries): Promise<OwnerQueries> {
  await sql`set local role none`.execute(queries)
  return queries
}
