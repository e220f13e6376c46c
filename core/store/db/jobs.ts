import { CompiledQuery } from 'kysely'
import { asOwner, type CompanyQueries } from './database.ts'

/**
 * Jobs as data: the statement by which the queue adds them, and its one parameter. They are there when the transaction commits that adds
 * them.
 */
export type PreparedJobs = { statement: string, rows: string }

/** Adds jobs in a transaction, which is the owner's from the first one on. */
export async function addJobs (queries: CompanyQueries, ...jobs: readonly PreparedJobs[]): Promise<void> {
  if (jobs.length === 0) return
  const owner = await asOwner(queries)
  for (const { statement, rows } of jobs) await owner.executeQuery(CompiledQuery.raw(statement, [rows]))
}
