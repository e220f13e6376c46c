import { sinceOf } from '../../contract/callbacks.ts'
import { isSince, usualVersion } from '../../contract/versions.ts'
import type { Outbox } from '../../pipeline/dependencies.ts'
import { type DocumentUrl, viewOf } from '../../pipeline/respond/result.ts'
import type { Database } from '../../store/db/database.ts'
import { readDispatch } from '../../store/dispatch/dispatch-views.ts'
import { noteCallback } from '../../store/vendor/callbacks.ts'
import type { Queue } from '../queue/queue.ts'
import { enqueueCallback } from './callbacks.ts'

/** Records callbacks, each with the dispatch as it is at the event. */
export function createOutbox ({ database, queue, documentUrl, newId, now }: {
  database: Database
  queue: Queue
  documentUrl: DocumentUrl
  newId: () => string
  now: () => Date
}): Outbox {
  const enqueue = enqueueCallback(queue)
  return {
    async enqueue (queries, { companyId, dispatchId }, type) {
      const record = await readDispatch(queries, companyId, dispatchId)
      const version = record?.api_version ?? usualVersion
      if (record?.callback_url == null || !isSince(sinceOf(type), version)) return
      await noteCallback(queries, {
        companyId,
        dispatchId,
        type,
        url: record.callback_url,
        data: viewOf(record, documentUrl, version),
        now: now(),
        due: database.now,
        newId
      }, enqueue)
    }
  }
}
