import { isObserved, observe, secondsSince } from '@dispatch/common'
import { createHash } from 'node:crypto'
import pg from 'pg'
import { type Beginning, joinStatements, keepBeginnings, type Prepared } from './beginning.ts'
import type { Destination } from './connection-failure.ts'
import { addressesOf, findWriter } from './hosts.ts'
import { connectionError, DatabaseUnavailable, statementError } from './unavailable.ts'

/**
 * Limits in milliseconds. `connect`: how long it may take to get a connection from the pool; `lock`: how long a statement waits for a lock;
 * `statement`: how long a statement runs; `idle`: how long a transaction waits for its next statement before the server ends it and frees
 * its locks; `answer`: how long the client waits for the server, even where the network is silent. It is longer than `statement`.
 */
export type TimeLimits = { connect: number, lock: number, statement: number, idle: number, answer: number }

/** The limits of requests. */
export const requestLimits: TimeLimits = { connect: 5_000, lock: 3_000, statement: 10_000, idle: 5_000, answer: 12_000 }

/**
 * Both sides probe a silent connection after 10 seconds. The server closes it after 25 seconds without an answer; the client closes it when
 * its operating system does.
 */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }
const serversKeepAlive = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=25000'

/** The settings of a connection with these limits and with keep-alive. `options`: more settings of the server, as `-c name=value`. */
export function connectionSettings ({ connect, lock, statement, idle, answer }: TimeLimits, options = '') {
  return {
    ...keepAlive,
    options: `${serversKeepAlive} ${options}`.trim(),
    connectionTimeoutMillis: connect,
    lock_timeout: lock,
    statement_timeout: statement,
    idle_in_transaction_session_timeout: idle,
    query_timeout: answer
  } satisfies pg.ClientConfig
}

/** What the client itself sees to; the limits of the server are those of its role, or of each transaction. */
function pooledSettings ({ connect, answer }: TimeLimits) {
  return { ...keepAlive, connectionTimeoutMillis: connect, query_timeout: answer } satisfies pg.ClientConfig
}

/** The limits as settings of one transaction. */
export function limitsWithin ({ lock, statement, idle }: TimeLimits): Readonly<Record<string, number>> {
  return { lock_timeout: lock, statement_timeout: statement, idle_in_transaction_session_timeout: idle }
}

/** One pool of connections. */
export type Connections = {
  pool: pg.Pool
  /** The pool as Kysely uses it. A connection that has failed is not used again. */
  healthy: Pick<pg.Pool, 'options' | 'end'> & { connect: () => Promise<pg.PoolClient> }
}

/**
 * `through`: where the connections lead. A pooler shares the connections of the server between transactions, so nothing may belong to a
 * session: no settings, no named statements.
 */
type Options = { name: string, max: number, limits: TimeLimits, through?: 'server' | 'pooler', onError: (error: Error) => void }

/**
 * Opens a pool. Failures of a connection are thrown as `DatabaseUnavailable`. `onError` is called for each connection that is lost before
 * the pool is closed.
 */
export function openConnections (
  to: Destination,
  { name, max, limits, through = 'server', onError }: Options
): Connections {
  const settings = through === 'server' ? connectionSettings(limits) : pooledSettings(limits)
  const pool = new pg.Pool({ application_name: `document-dispatch ${name}`, ...settings, ...to.config, Client: LastingClient, max })
  const health = createHealth()
  pool.on('error', ignoreRepeatedError).on('connect', (client) => {
    // Without a listener, the loss of a connection in use would end the process.
    client.once('error', (error: Error) => {
      if (!pool.ending) onError(error)
    }).on('error', ignoreRepeatedError)
    joinStatements(client)
    health.watch(client)
  })
  if (through === 'server') nameStatements(pool)
  else forgetNames(pool)
  return {
    pool,
    healthy: {
      options: pool.options,
      async connect () {
        for (;;) {
          // An address that cannot be read is thrown at once.
          const client = await Promise.try(() => pool.connect()).catch((error: unknown) => {
            throw connectionError(error, to)
          })
          const release = client.release.bind(client)
          client.release = (error) => release(error ?? health.failureOf(client))
          if (health.failureOf(client) === undefined) return client
          client.release()
        }
      },
      end: () => pool.end()
    }
  }
}

type Query = { query: (...args: unknown[]) => unknown }

/** Which connections of a pool have failed. */
type Health = {
  /** Translates the failures of a connection, and refuses further queries on it: a silent one would run into its limit again. */
  watch: (client: pg.ClientBase) => void
  failureOf: (client: pg.ClientBase) => Error | undefined
}

function createHealth (): Health {
  const failed = new WeakMap<pg.ClientBase, Error>()
  const generations = new WeakMap<pg.ClientBase, number>()
  let generation = 0
  let ofOlder: Error | undefined

  function note (client: pg.ClientBase, error: DatabaseUnavailable): void {
    // Where the server answers, its connection can be used again.
    if (error.reason === 'busy' || error.reason === 'restored') return
    failed.set(client, error)
    // This server is a standby now: all older connections lead to the wrong server.
    if (error.reason !== 'read-only' || generations.get(client) !== generation) return
    generation++
    ofOlder = error
  }

  const failureOf = (client: pg.ClientBase): Error | undefined =>
    failed.get(client) ?? (generations.get(client) === generation ? undefined : ofOlder)

  return {
    failureOf,
    watch (client) {
      generations.set(client, generation)
      const queried = client as unknown as Query
      const query = queried.query.bind(queried)
      queried.query = (...args) => {
        const before = failed.get(client)
        if (before !== undefined) return Promise.reject(before)
        const answer = observed(args[0], query(...args))
        if (!(answer instanceof Promise)) return answer
        return answer.catch((error: unknown) => {
          const reported = statementError(error)
          if (reported instanceof DatabaseUnavailable) note(client, reported)
          throw reported
        })
      }
    }
  }
}

/** Tells of an answer where somebody listens. */
function observed (requested: unknown, answer: unknown): unknown {
  if (!(answer instanceof Promise) || !isObserved('databaseRequest')) return answer
  const begun = performance.now()
  const tell = (failed: boolean): void => {
    observe('databaseRequest', { operation: operationOf(requested), failed, seconds: secondsSince(begun) })
  }
  return answer.then((result: unknown) => {
    tell(false)
    return result
  }, (error: unknown) => {
    tell(true)
    throw error
  })
}

function operationOf (requested: unknown): string {
  const text = typeof requested === 'string'
    ? requested
    : typeof requested === 'object' && requested !== null && 'text' in requested
    ? String(requested.text)
    : ''
  return /^\s*([a-z]+)/i.exec(text)?.[1]?.toLowerCase() ?? 'other'
}

/** Ignores errors that were reported before: the server says why it ends a connection, and the pool repeats the errors of idle ones. */
export function ignoreRepeatedError (): void {
  // It was reported before.
}

type Opened = ((error: Error) => void) | ((error: null, client: pg.Client) => void)

/** The part of the time for a connection in which the host that takes writes must be found. A pool measures both together. */
const findingShare = 0.8

/**
 * A connection for libraries that do not listen to its errors: its loss fails their queries, and does not end the process. One that could
 * not be opened is closed: a server waits for a minute for a password that never comes. Of an address with several hosts it is opened to
 * the one that takes writes.
 */
export class LastingClient extends pg.Client {
  readonly #settings: pg.ClientConfig
  #ended = false

  constructor (settings: pg.ClientConfig = {}) {
    const { connectionString: address } = settings
    super(address === undefined ? settings : { ...settings, connectionString: addressesOf(address)[0] })
    this.#settings = settings
    this.on('error', ignoreRepeatedError)
  }

  override connect (): Promise<this>
  override connect (callback: Opened): void
  override connect (callback?: Opened): unknown {
    const { connectionString: address = '' } = this.#settings
    const opening = addressesOf(address).length === 1 ? super.connect() : this.#findHost(address).then(() => super.connect())
    const opened = opening.then(() => this, (error: unknown) => {
      void this.end()
      throw error
    })
    if (callback === undefined) return opened
    const tell = callback as (error: unknown, client?: pg.Client) => void
    return opened.then((client) => {
      tell(null, client)
    }, tell)
  }

  override end (): Promise<void>
  override end (callback: (error: Error) => void): void
  override end (callback?: (error: Error) => void): unknown {
    this.#ended = true
    if (callback === undefined) return super.end()
    super.end(callback)
    return undefined
  }

  async #findHost (address: string): Promise<void> {
    const limit = findingShare * (this.#settings.connectionTimeoutMillis ?? requestLimits.connect)
    const writer = await findWriter(address, { ...this.#settings, connectionTimeoutMillis: limit, query_timeout: limit })
    if (this.#ended) throw new Error('Connection terminated')
    const { host, port } = new pg.Client({ connectionString: writer })
    Object.assign(this, { host, port })
  }
}

/**
 * One connection beside the pools, with settings of its own. `name`: as the server shows it. Throws `DatabaseUnavailable` where it cannot
 * be opened.
 */
export async function connectAlone (to: Destination, name: string, settings: pg.ClientConfig): Promise<pg.Client> {
  try {
    const client = new LastingClient({ application_name: `document-dispatch ${name}`, ...settings, ...to.config })
    await client.connect()
    return client
  } catch (error) {
    throw connectionError(error, to)
  }
}

/** How many statements get a name. Every name costs memory in each process of the server. */
const maxNames = 500

/** Names every parametrised statement by the hash of its text, so that each connection plans it once. That about doubles the throughput. */
function nameStatements (pool: pg.Pool): void {
  const names = new Map<string, string>()
  const nameOf = (text: string): string | undefined => {
    if (!names.has(text) && names.size < maxNames) names.set(text, createHash('sha1').update(text).digest('base64url'))
    return names.get(text)
  }
  pool.on('connect', (client: Query) => {
    const query = client.query.bind(client)
    const named = (...args: unknown[]): Prepared | undefined => {
      const [text, values, ...rest] = args
      if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0 || rest.length > 0) return undefined
      const name = nameOf(text)
      return name === undefined ? undefined : { name, text, values }
    }
    const join = async ({ begin, settings, values, plain }: Beginning, args: unknown[]): Promise<unknown> => {
      const [statement, name, nameOfSettings] = [named(...args), nameOf(begin), nameOf(settings)]
      if (statement !== undefined && name !== undefined && nameOfSettings !== undefined) {
        const before = [{ name, text: begin, values: [] }, { name: nameOfSettings, text: settings, values }]
        return await query({ ...statement, before })
      }
      await query(plain)
      return await query(...args)
    }
    client.query = keepBeginnings((...args) => query(...named(...args) === undefined ? args : [named(...args)]), join)
  })
}

/** Takes away the names that libraries give to their statements: the next statement may reach another session, which knows none of them. */
function forgetNames (pool: pg.Pool): void {
  pool.on('connect', (client: Query) => {
    const query = client.query.bind(client)
    client.query = (first, ...rest) =>
      query(typeof first === 'object' && first !== null && 'name' in first ? { ...first, name: undefined } : first, ...rest)
  })
}
