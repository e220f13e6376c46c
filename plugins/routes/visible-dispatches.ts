import { type Actor, maySee } from '@dispatch/accounts'
import { type DispatchRecord, findDispatch } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { resourceNotFound, uuidIn } from './path-parameters.ts'

/** Finds the dispatch with the id in the path. Throws `not_found`, also if the actor may not see it. */
export async function findVisibleDispatch (database: Database, actor: Actor, id: string): Promise<DispatchRecord> {
  const record = await findDispatch(database, actor.companyId, uuidIn(id, 'dispatch'))
  if (record === undefined || !maySee(actor, record)) throw resourceNotFound('dispatch', id)
  return record
}
