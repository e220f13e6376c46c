import { randomUUIDv7 } from 'node:crypto'
import pg from 'pg'

/** A query of a database client. */
export type Statement = [statement: string | pg.QueryConfig, values?: unknown[]]
type Querying = { query: (...statement: Statement) => Promise<unknown> }
/** A statement, and the connection that it ran on. */
export type Recorded = { connection: object, statement: Statement }

let recorded: Recorded[] | undefined
const prototype = pg.Client.prototype as Querying
const { query } = prototype
prototype.query = function (...statement) {
  recorded?.push({ connection: this, statement })
  return query.apply(this, statement)
}

/** Runs the same transactions again, each time with other values. */
export type Script = () => Statement[][]

/**
 * Records the transactions that `work` runs, on connections that were opened after this module was loaded. `word` is a text in them that is
 * different each time; so is every UUIDv7.
 */
export async function recordScript (word: string, work: () => Promise<unknown>): Promise<Script> {
  const statements: Recorded[] = recorded = []
  await work().finally(() => {
    recorded = undefined
  })
  const json = JSON.stringify(transactionsOf(statements))
  const changing = [word, ...new Set(json.match(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g))]
  return () => JSON.parse(changing.reduce((text, name) => text.replaceAll(name, randomUUIDv7()), json)) as Statement[][]
}

/** The transactions of all connections in the order of their start. A statement outside of a transaction is a transaction of its own. */
export function transactionsOf (statements: readonly Recorded[]): Statement[][] {
  const transactions: Statement[][] = []
  const open = new Map<object, Statement[]>()
  for (const { connection, statement } of statements) {
    const [asked] = statement
    const text = typeof asked === 'string' ? asked : asked.text
    const transaction = open.get(connection) ?? []
    if (transaction.push(statement) === 1) transactions.push(transaction)
    if (text.startsWith('begin')) open.set(connection, transaction)
    if (/^(commit|rollback)\b/.test(text)) open.delete(connection)
  }
  return transactions
}

/** Runs a script; each of its transactions uses one connection of the pool. */
export async function replay (pool: pg.Pool, script: Script): Promise<void> {
  for (const transaction of script()) {
    const client = await pool.connect()
    await run(client, [transaction])
    client.release()
  }
}

/** Runs a script on one connection. */
export function replayOn (client: pg.Client, script: Script): Promise<void> {
  return run(client, script())
}

async function run (client: object, transactions: readonly Statement[][]): Promise<void> {
  for (const statement of transactions.flat()) await prototype.query.apply(client as Querying, statement)
}
