import { randomUUIDv7 } from 'node:crypto'
import pg from 'pg'

/** What was sent to a database server in one go: the arguments of a client's `query`. */
type Statement = Parameters<typeof pg.Client.prototype.query>

let recorded: Statement[] | undefined
pg.Client.prototype.query = new Proxy(pg.Client.prototype.query, {
  apply (query, client: pg.Client, statement: Statement) {
    recorded?.push(statement)
    return Reflect.apply(query, client, statement) as unknown
  }
})

/** A run of statements that can be had again and again, each time about other things. */
export type Script = () => Statement[]

/**
 * Records what `work` sends over the connections that were opened since this module was loaded. `word` is a text in it that
 * is another one each time; so is every UUIDv7.
 */
export async function recordScript (word: string, work: () => Promise<unknown>): Promise<Script> {
  const statements: Statement[] = recorded = []
  await work().finally(() => { recorded = undefined })
  const json = JSON.stringify(statements)
  const changing = [word, ...new Set(json.match(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g))]
  return () => JSON.parse(changing.reduce((text, name) => text.replaceAll(name, randomUUIDv7()), json)) as Statement[]
}

/** Runs a script, each of its transactions on a connection of the pool. */
export async function replay (pool: pg.Pool, script: Script): Promise<void> {
  const statements = script()
  while (statements.length > 0) {
    const end = statements.findIndex(([text]) => String(text) === 'commit') + 1
    const client = await pool.connect()
    for (const statement of statements.splice(0, end)) await client.query(...statement)
    client.release()
  }
}
