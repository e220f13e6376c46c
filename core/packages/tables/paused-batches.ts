import type { CompanyQueries } from '@dispatch/database'
import { sql } from 'kysely'

/**
 * Lets no dispatch of a batch begin, or lets them begin again. Those that wait in the queue stay there; what is under way goes on. The
 * sweep finds those that were due meanwhile. Answers whether it was otherwise before.
 */
export async function holdBack (
  queries: CompanyQueries,
  { companyId, batchId }: { companyId: number, batchId: string },
  isPaused: boolean
): Promise<boolean> {
  if (isPaused) {
    const { numInsertedOrUpdatedRows = 0n } = await queries.insertInto('paused_batches').values({
      company_id: companyId,
      batch_id: batchId
    })
      .onConflict((taken) => taken.doNothing()).executeTakeFirstOrThrow()
    return numInsertedOrUpdatedRows > 0n
  }
  const { numDeletedRows } = await queries.deleteFrom('paused_batches').where('company_id', '=', companyId)
    .where('batch_id', '=', batchId).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** A condition on a dispatch: its batch is not held back, if it is of one. */
export const isLetGo = sql<boolean>`(dispatches.in_batch is null or not exists (select from paused_batches as paused
  where paused.company_id = dispatches.company_id and paused.batch_id = dispatches.in_batch))`
