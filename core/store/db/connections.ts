import { createHash } from 'node:crypto'
import pg from 'pg'
import { connectionError, DatabaseUnavailable, statementError } from './unavailable.ts'

/**
 * Milliseconds. `connect`: to get a connection, new or free; `lock`: that a statement waits for what others have; `statement`:
 * that it takes; `idle`: that a transaction waits for its next statement, then the server ends it with all it has locked;
 * `answer`: that the server is waited for, however silent the network is: longer than a statement takes.
 */
export type TimeLimits = { connect: number, lock: number, statement: number, idle: number, answer: number }

/** What a company's requests may take. */
export const requestLimits: TimeLimits = { connect: 5_000, lock: 3_000, statement: 10_000, idle: 5_000, answer: 12_000 }

/**
 * A connection that says nothing is asked after 10 seconds by both sides; the server gives it up after 25, the client when its system does.
 */
const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }
const serversKeepAlive = '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 -c tcp_user_timeout=25000'

/** The settings of a connection that keeps to the limits, and is noticed when it is dead; `options` for the server as `-c name=value`. */
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

/** Some connections of a process. */
export type Connections = {
  pool: pg.Pool
  /** What Kysely takes connections from: those that have failed do not come back. */
  lent: Pick<pg.Pool, 'options' | 'end'> & { connect: () => Promise<pg.PoolClient> }
}

type Options = { name: string, most: number, limits: TimeLimits, onError: (error: Error) => void }

/** Opens a pool. Its failures are told as `DatabaseUnavailable`. The loss of a connection goes to `onError`, until the pool is closed. */
export function openConnections (config: pg.PoolConfig, { name, most, limits, onError }: Options): Connections {
  const pool = new pg.Pool({ application_name: `document-dispatch ${name}`, ...connectionSettings(limits), ...config, max: most })
  const health = createHealth()
  pool.on('error', ignoreRepeatedError).on('connect', (client) => {
    // Without a listener, a connection that is lost while in use would end the process.
    client.once('error', (error: Error) => {
      if (!pool.ending) onError(error)
    }).on('error', ignoreRepeatedError)
    health.watch(client)
  })
  nameStatements(pool)
  return {
    pool,
    lent: {
      options: pool.options,
      async connect () {
        for (;;) {
          const client = await pool.connect().catch((error: unknown) => {
            throw connectionError(error)
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

/** Which connections of a pool are good no more. */
type Health = {
  /** Has the failures of a connection told as what they mean, and nothing more asked of it then: a silent one would be waited for again. */
  watch: (client: pg.ClientBase) => void
  failureOf: (client: pg.ClientBase) => Error | undefined
}

function createHealth (): Health {
  const failed = new WeakMap<pg.ClientBase, Error>()
  const generations = new WeakMap<pg.ClientBase, number>()
  let generation = 0
  let ofOlder: Error | undefined

  function note (client: pg.ClientBase, error: DatabaseUnavailable): void {
    // The connection of a busy server is good.
    if (error.reason === 'busy') return
    failed.set(client, error)
    // The server has handed over to another one: whoever is connected to it, is to the wrong one.
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
      const asked = client as unknown as Query
      const query = asked.query.bind(asked)
      asked.query = (...args) => {
        const before = failed.get(client)
        if (before !== undefined) return Promise.reject(before)
        const answer = query(...args)
        if (!(answer instanceof Promise)) return answer
        return answer.catch((error: unknown) => {
          const told = statementError(error)
          if (told instanceof DatabaseUnavailable) note(client, told)
          throw told
        })
      }
    }
  }
}

/** For what has been told already: the server says why it ends a connection before it does, and the pool repeats what idle ones say. */
export function ignoreRepeatedError (): void {
  // Nothing is left to tell.
}

/** A connection for libraries that listen to no loss of it: their queries tell of it, and it ends no process. */
export class LastingClient extends pg.Client {
  constructor (config?: string | pg.ClientConfig) {
    super(config)
    this.on('error', ignoreRepeatedError)
  }
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
  pool.on('connect', (client: Query) => {
    const query = client.query.bind(client)
    client.query = (...args) => {
      const [text, values, ...rest] = args
      const name = typeof text === 'string' && Array.isArray(values) && values.length > 0 && rest.length === 0 ? nameOf(text) : undefined
      return name === undefined ? query(...args) : query({ name, text, values })
    }
  })
}
