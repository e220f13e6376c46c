import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { FileStore } from '@dispatch/files'
import type { DispatchRows } from '../store/dispatch/dispatch-rows.ts'
import { noteRemoved } from '../store/dispatch/retention.ts'
import { eraseDispatches, findDispatchesOf, listErasedFiles, queuedOf } from '../store/privacy/dispatches.ts'
import type { Holder } from '../store/privacy/holder.ts'
import type { Pipeline } from './pipeline.ts'

type Needs = {
  database: Database
  files: Pick<FileStore, 'remove'>
  pipeline: Pick<Pipeline, 'cancel'>
  /** What features keep of dispatches. */
  dispatchRows: readonly DispatchRows[]
}

/**
 * Dispatches, with all that belongs to them. One that waits and of which nothing has begun is cancelled. One that runs ends first.
 */
export function dispatchHolder ({ database, files, dispatchRows, pipeline }: Needs): Holder {
  return {
    kind: 'dispatches',
    search: (companyId, person, after) => findDispatchesOf(database, { companyId, person, after }),

    async prepare ({ companyId, author }, ids) {
      const actor = { userId: author.userId, companyId, email: '', role: 'admin' as const, services: ['*'] }
      for (const dispatchId of await queuedOf(database, companyId, ids)) {
        await pipeline.cancel({ actor, author, dispatchId, onlyQueued: true }).catch((error: unknown) => {
          // It has begun, or is gone: what is not over waits for the next pass.
          if (!(error instanceof DispatchError)) throw error
        })
      }
    },

    erase: (queries, { companyId, person }, ids) => eraseDispatches(queries, { companyId, person, now: database.now, dispatchRows }, ids),

    async clean (companyId) {
      for (let left = await listErasedFiles(database, companyId); left.length > 0; left = await listErasedFiles(database, companyId)) {
        for (const { storageKey } of left) await files.remove(storageKey)
        await noteRemoved(database, left.map(({ documentId }) => documentId), await database.time())
      }
    }
  }
}
