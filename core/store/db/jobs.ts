import { CompiledQuery } from 'kysely'
import { asOwner, type CompanyQueries } from './database.ts'

/** Jobs as data: the statement of the queue that adds them, and its one parameter. They become visible when their transaction commits. */
export type PreparedJobs = { statement: string, rows: string }

/** Adds jobs in a company's transaction. If there are any, the rest of the transaction runs as the owner. */
export async function addJobs (queries: CompanyQueries, ...jobs: readonly PreparedJobs[]): Promise<void> {
  if (jobs.length === 0) return
  const owner = await asOwner(queries)
  for (const { statement, rows } of jobs) await owner.executeQuery(CompiledQuery.raw(statement, [rows]))
}
