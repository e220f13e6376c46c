import { randomUUIDv7 } from 'node:crypto'
import pg from 'pg'

/** What a client of the database is asked. */
type Statement = [statement: string | pg.QueryConfig, values?: unknown[]]
type Querying = { query: (...statement: Statement) => Promise<unknown> }

let recorded: Statement[] | undefined
const prototype = pg.Client.prototype as Querying
const { query } = prototype
prototype.query = function (...statement) {
  recorded?.push(statement)
  return query.apply(this, statement)
}

/** The same transactions again, about other things each time. */
export type Script = () => Statement[][]

/**
 * Records the transactions that `work` runs, on connections that were opened since this module was loaded. `word` is a text
 * in them that is another one each time; so is every UUIDv7.
 */
export async function recordScript (word: string, work: () => Promise<unknown>): Promise<Script> {
  const statements: Statement[] = recorded = []
  await work().finally(() => { recorded = undefined })
  const json = JSON.stringify(transactionsOf(statements))
  const changing = [word, ...new Set(json.match(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g))]
  return () => JSON.parse(changing.reduce((text, name) => text.replaceAll(name, randomUUIDv7()), json)) as Statement[][]
}

function transactionsOf (statements: readonly Statement[]): Statement[][] {
  const transactions: Statement[][] = []
  for (const statement of statements) {
    const [text] = statement
    if (typeof text === 'string' && text.startsWith('begin')) transactions.push([])
    transactions.at(-1)?.push(statement)
  }
  return transactions
}

/** Runs a script, each of its transactions on a connection of the pool. */
export async function replay (pool: pg.Pool, script: Script): Promise<void> {
  for (const transaction of script()) {
    const client = await pool.connect()
    for (const statement of transaction) await prototype.query.apply(client, statement)
    client.release()
  }
}
