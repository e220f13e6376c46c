import { type CallbackType, isSince, sinceOf, usualVersion } from '@dispatch/contract'
import { type DocumentUrl, type Outbox, viewOf } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import type { Queue } from '@dispatch/queue'
import { noteFeedEvent } from '../store/event-feeds.ts'
import { type NotifiedDispatch, readNotifiedDispatch } from '../store/notified-dispatch.ts'
import { insertCallback, nextSequence, noteCallback, noteCompanyEvent, noteEndpointCallbacks } from '../store/outbox.ts'
import { callbackJob } from './delivery.ts'

/**
 * Records callbacks, each with the dispatch as it is at the event: to the address of the dispatch, and to the company's endpoints. The
 * company's feed has what its address gets, or would get.
 */
export function createOutbox ({ database, queue, documentUrl, newId, now }: {
  database: Database
  queue: Queue
  documentUrl: DocumentUrl
  newId: () => string
  now: () => Date
}): Outbox {
  /** Adds the jobs that deliver what was recorded, in the same transaction. */
  async function queueJobs (
    queries: OwnerQueries,
    companyId: number,
    { addressed, toEndpoints }: { addressed: string | undefined, toEndpoints: readonly string[] }
  ): Promise<void> {
    const jobs = [
      ...(addressed === undefined ? [] : [callbackJob({ companyId, toEndpoint: false }, addressed)]),
      ...toEndpoints.map((callbackId) => callbackJob({ companyId, toEndpoint: true }, callbackId))
    ]
    if (jobs.length > 0) await queue.send('callback', jobs, queries)
  }

  async function tell (queries: OwnerQueries, type: CallbackType, { record, endpointIds, hasFeed }: NotifiedDispatch): Promise<void> {
    const { company_id: companyId, dispatch_id: dispatchId, callback_url: url } = record
    const version = record.api_version ?? usualVersion
    if (!isSince(sinceOf(type), version)) return
    const data = viewOf(record, documentUrl, version)
    const event = { companyId, dispatchId, type, data, now: now(), due: database.now, newId }
    let addressed: string | undefined
    if (url !== null || hasFeed) {
      const sequence = await nextSequence(queries, event)
      if (url !== null) addressed = await noteCallback(queries, { ...event, url, sequence })
      if (hasFeed) await noteFeedEvent(queries, { ...event, sequence })
    }
    const toEndpoints = endpointIds.length === 0 ? [] : await noteEndpointCallbacks(queries, endpointIds, event)
    await queueJobs(queries, companyId, { addressed, toEndpoints })
  }

  return {
    async enqueue (queries, { companyId, dispatchId }, type) {
      const reported = await readNotifiedDispatch(queries, companyId, dispatchId, type)
      if (reported !== undefined) await tell(queries, type, reported)
    },

    async tell (queries, companyId, { type, data, url }) {
      const event = { companyId, type, data, now: now(), due: database.now, newId }
      const { sequence, callbackIds: toEndpoints } = await noteCompanyEvent(queries, event)
      const addressed = url === undefined ? undefined : await insertCallback(queries, { ...event, dispatchId: null, sequence, url })
      await queueJobs(queries, companyId, { addressed, toEndpoints })
    }
  }
}
