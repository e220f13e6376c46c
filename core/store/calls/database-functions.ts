import type { CompanyQueries, Database, FunctionAnswer, SqlTimestamp } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseFunctions } from './functions.ts'

const folder = new URL('../calls/', import.meta.url)
const texts = readdirSync(folder).filter((name) => name.endsWith('.sql')).sort().map((name) => readFileSync(new URL(name, folder), 'utf8'))

/** Another text is another schema, so that processes of several versions work side by side. */
const schema = `calls_${hash('sha256', texts.join('\0')).slice(0, 16)}`

type Name = keyof DatabaseFunctions

/** What a function answers, and when: the beginning of its transaction, by the clock of the database. */
type Timed<Called extends Name> = { answer: DatabaseFunctions[Called]['answer'], at: Date }

/** Calls a function as a transaction of its own, in one message. */
export async function callFunction<Called extends Name> (
  database: Pick<Database, 'callFunction'>,
  name: Called,
  given: DatabaseFunctions[Called]['given']
): Promise<Timed<Called>> {
  return timed(name, await database.callFunction(given.company_id, `"${schema}"."${name}"`, JSON.stringify(given)))
}

/** Calls a function as a part of a company's transaction. */
export async function callFunctionWithin<Called extends Name> (
  queries: CompanyQueries,
  name: Called,
  given: DatabaseFunctions[Called]['given'],
  now: SqlTimestamp
): Promise<Timed<Called>> {
  const call = sql<FunctionAnswer>`select ${functionNamed(name)}(${JSON.stringify(given)}::jsonb, ${now}) as answer, ${now} as at`
  return timed(name, (await call.execute(queries)).rows[0])
}

/** A function of this version as a statement names it, for whoever calls it as the owner. */
export function functionNamed (name: string): RawBuilder<unknown> {
  return sql.id(schema, name)
}

/** The functions are those of this version, so they answer as they are typed. */
function timed<Called extends Name> (name: Called, row: FunctionAnswer | undefined): Timed<Called> {
  if (row === undefined) throw new TypeError(`The function "${name}" of the database gave no answer.`)
  return row
}

/**
 * Makes the functions of this version where they are missing. Those of other versions stay, as their processes may still run: they hold no
 * data.
 */
export async function createDatabaseFunctions ({ owner }: Pick<Database, 'owner'>): Promise<void> {
  await owner.transaction().execute(async (queries) => {
    const { rows } = await sql`select from pg_namespace where nspname = ${schema}`.execute(queries)
    if (rows.length > 0) return
    await sql`create schema ${sql.id(schema)}`.execute(queries)
    for (const text of texts) await sql.raw(text.replaceAll(/\bcalls\.(?=\w+ ?\()/g, `${schema}.`)).execute(queries)
    await sql`grant usage on schema ${sql.id(schema)} to dispatch_company`.execute(queries)
  })
}
