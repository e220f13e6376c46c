import { type RawBuilder, sql } from 'kysely'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Database } from './database.ts'

/** The functions of the database, in the order in which they are made: each does a whole transaction in one message. */
const texts = ['common', 'open', 'attempt', 'settle'].map((name) => readFileSync(new URL(`../calls/${name}.sql`, import.meta.url), 'utf8'))

/** Another text is another schema, so that processes of several versions work side by side. */
const schema = `calls_${hash('sha256', texts.join('\0')).slice(0, 16)}`

/** A function by its name. */
export function databaseFunction (name: 'open' | 'attempt' | 'settle'): RawBuilder<unknown> {
  return sql.id(schema, name)
}

/**
 * Makes the functions of this version where they are missing. Those of others stay, as their processes may still run: they hold no data.
 */
export async function createDatabaseFunctions ({ owner }: Database): Promise<void> {
  await owner.transaction().execute(async (queries) => {
    const { rows } = await sql`select from pg_namespace where nspname = ${schema}`.execute(queries)
    if (rows.length > 0) return
    await sql`create schema ${sql.id(schema)}`.execute(queries)
    for (const text of texts) await sql.raw(text.replaceAll(/\bcalls\.(?=\w+ ?\()/g, `${schema}.`)).execute(queries)
    await sql`grant usage on schema ${sql.id(schema)} to dispatch_company`.execute(queries)
  })
}
