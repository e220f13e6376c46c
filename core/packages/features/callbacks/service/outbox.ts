import { type CallbackType, isSince, sinceOf, usualVersion } from '@dispatch/contract'
import { type DocumentUrl, type Outbox, viewOf } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import type { Queue } from '@dispatch/queue'
import { nextSequence, noteCallback, noteCompanyCallback } from '../store/callbacks.ts'
import { noteCompanyEvent, noteEndpointCallbacks } from '../store/endpoint-callbacks.ts'
import { noteFeedEvent } from '../store/event-feeds.ts'
import { type NotifiedDispatch, readNotifiedDispatch } from '../store/notified-dispatch.ts'
import { enqueueCallback } from './callbacks.ts'
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
  const enqueue = enqueueCallback(queue)

  async function tell (queries: OwnerQueries, type: CallbackType, { record, endpointIds, hasFeed }: NotifiedDispatch): Promise<void> {
    const { company_id: companyId, dispatch_id: dispatchId, callback_url: url } = record
    const version = record.api_version ?? usualVersion
    if (!isSince(sinceOf(type), version)) return
    const data = viewOf(record, documentUrl, version)
    const event = { companyId, dispatchId, type, data, now: now(), due: database.now, newId }
    if (url !== null || hasFeed) {
      const sequence = await nextSequence(queries, event)
      if (url !== null) await noteCallback(queries, { ...event, url, sequence }, enqueue)
      if (hasFeed) await noteFeedEvent(queries, { ...event, sequence })
    }
    if (endpointIds.length === 0) return
    const callbackIds = await noteEndpointCallbacks(queries, endpointIds, event)
    await queue.send('callback', callbackIds.map((callbackId) => callbackJob(companyId, callbackId, 'endpoints')), queries)
  }

  return {
    async enqueue (queries, { companyId, dispatchId }, type) {
      const told = await readNotifiedDispatch(queries, companyId, dispatchId, type)
      if (told !== undefined) await tell(queries, type, told)
    },

    async tell (queries, companyId, { type, data, url }) {
      const event = { companyId, type, data, now: now(), due: database.now, newId }
      const { sequence, callbackIds } = await noteCompanyEvent(queries, event)
      if (url !== undefined) await noteCompanyCallback(queries, { ...event, sequence, url }, enqueue)
      await queue.send('callback', callbackIds.map((callbackId) => callbackJob(companyId, callbackId, 'endpoints')), queries)
    }
  }
}
