import { asOwner, type CompanyQueries } from '@dispatch/database'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { hash } from 'node:crypto'
import type { Tables } from './schema.ts'

/** Jobs as data: the statement of the queue that adds them, and its one parameter. They become visible when their transaction commits. */
export type PreparedJobs = { statement: string, rows: string }

/** Adds jobs in a company's transaction. If there are any, the rest of the transaction runs as the owner. */
export async function addJobs (queries: CompanyQueries, ...jobs: readonly PreparedJobs[]): Promise<void> {
  if (jobs.length === 0) return
  const owner = await asOwner(queries)
  for (const { statement, rows } of jobs) await owner.executeQuery(CompiledQuery.raw(statement, [rows]))
}

/**
 * Makes a function of a statement with one parameter, unless there is one, and answers the statement that calls it. Each connection plans a
 * function once; to plan the queue's own statement each time takes three times as long as to run it.
 */
export async function keepStatement (queries: Kysely<Tables>, statement: string): Promise<string> {
  const name = `s${hash('sha256', statement).slice(0, 16)}`
  const kept = sql.id('kept_statements', name)
  const { rows } = await sql`select from pg_proc join pg_namespace as namespace on namespace.oid = pronamespace
    where nspname = 'kept_statements' and proname = ${name}`.execute(queries)
  if (rows.length === 0) {
    await sql`create schema if not exists kept_statements`.execute(queries)
    await sql`create or replace function ${kept}(parameter text) returns void language plpgsql as ${
      sql.lit(`declare
      answer record;
    begin
      for answer in ${statement} loop null; end loop;
    end`)
    }`.execute(queries)
  }
  return sql`select ${kept}($1)`.compile(queries).sql
}
