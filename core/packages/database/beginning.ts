import pg from 'pg'

/**
 * What a transaction begins with: `begin`, and a statement that sets what bounds the others. A client of ours sends both with the first
 * statement of the transaction, before one Sync. The server does nothing that stands behind a failure before a Sync, so nothing runs where
 * the settings fail. `plain`: the same as one text, for what has no parameters.
 */
export class Beginning {
  readonly begin: string
  readonly settings: string
  readonly values: readonly string[]
  readonly plain: string

  constructor (begin: string, settings: string, values: readonly string[], plain: string) {
    this.begin = begin
    this.settings = settings
    this.values = values
    this.plain = plain
  }
}

/** A statement that is prepared once on a connection, by its name. */
export type Prepared = { name: string, text: string, values: unknown[] }
/** One that stands before another: its values are texts, which need no conversion. */
type Before = { name: string, text: string, values: readonly string[] }

/** What pg's clients and queries have, and their types do not tell. */
type Wire = {
  parsedStatements: Readonly<Record<string, string>>
  bind: (config: { statement: string, values: readonly string[] }) => void
  execute: (config: object) => void
}
type QueryParts = {
  prepare: (connection: Wire) => void
  handleCommandComplete: (message: unknown, connection: Wire) => void
  handleDataRow: (message: unknown) => void
}

const base = pg.Query.prototype as unknown as QueryParts

/** A statement with others before it, all of them prepared, in one message. The answers of the others are left out. */
class JoinedQuery extends pg.Query {
  readonly #before: readonly Before[]
  #left: number

  constructor (statement: Prepared, before: readonly Before[], callback: (error: Error | null, result: pg.QueryResult) => void) {
    super({ ...statement, callback } as pg.QueryConfig)
    this.#before = before
    this.#left = before.length
  }

  prepare (connection: Wire): void {
    for (const { name, values } of this.#before) {
      connection.bind({ statement: name, values })
      connection.execute({})
    }
    base.prepare.call(this, connection)
  }

  handleCommandComplete (message: unknown, connection: Wire): void {
    if (this.#left > 0) this.#left--
    else base.handleCommandComplete.call(this, message, connection)
  }

  handleDataRow (message: unknown): void {
    if (this.#left === 0) base.handleDataRow.call(this, message)
  }
}

type Query = (...args: unknown[]) => unknown
/** A statement with those that stand `before` it. */
export type Joined = Prepared & { before: readonly Before[] }

/** Has a connection take statements that are joined, too. */
export function joinStatements (client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: Wire }
  const queried = client as unknown as { query: Query }
  const query = queried.query.bind(queried)
  queried.query = (...args) => {
    const [asked] = args
    return typeof asked === 'object' && asked !== null && 'before' in asked ? askJoined(connection, query, asked as Joined) : query(...args)
  }
}

/**
 * Sends statements in their order, each only where those before it were done: in one message where the connection has prepared all of them,
 * else one after the other, which prepares them.
 */
async function askJoined ({ parsedStatements: known }: Wire, ask: Query, { before, ...statement }: Joined): Promise<pg.QueryResult> {
  if ([...before, statement].every(({ name }) => Object.hasOwn(known, name))) {
    return await new Promise((resolve, reject) => {
      ask(new JoinedQuery(statement, before, (error, result) => {
        if (error === null) resolve(result)
        else reject(error)
      }))
    })
  }
  for (const { values, ...one } of before) await ask({ ...one, values: [...values] })
  return await ask(statement) as pg.QueryResult
}

/** `opening`: its first statement is under way. `failed`: that has failed, and with it the transaction. */
type State = { pending: Beginning } | { opening: Promise<unknown> } | { failed: Error } | undefined

/**
 * Has a connection keep what a transaction begins with (the only value of a statement) until the first statement comes, and send both
 * together (`join`). What comes meanwhile waits: where the beginning fails, none of it runs.
 */
export function keepBeginnings (query: Query, join: (beginning: Beginning, args: unknown[]) => Promise<unknown>): Query {
  let state: State
  const done = (command: string) => Promise.resolve({ command, rowCount: null, rows: [] })
  const next: Query = (...args) => {
    const [text, values] = args
    const [beginning] = Array.isArray(values) ? values as unknown[] : []
    if (beginning instanceof Beginning) {
      state = { pending: beginning }
      return done('BEGIN')
    }
    if (state === undefined) return query(...args)
    if ('opening' in state) {
      const again = (): unknown => next(...args)
      return state.opening.then(again, again)
    }
    const end = text === 'commit' || text === 'rollback' ? text : undefined
    if ('failed' in state) {
      const { failed } = state
      if (end === undefined) return Promise.reject(failed)
      state = undefined
      const ended = Promise.resolve(query('rollback'))
      return end === 'rollback' ? ended : ended.then(() => Promise.reject(failed))
    }
    const { pending } = state
    // Nothing was asked for.
    if (end !== undefined) {
      state = undefined
      return done(end.toUpperCase())
    }
    const opening = join(pending, args)
    state = { opening }
    opening.then(() => {
      state = undefined
    }, (error: unknown) => {
      state = { failed: error instanceof Error ? error : new Error(String(error)) }
    })
    return opening
  }
  return next
}
