import type { AuditAuthor } from '@dispatch/accounts'
import { type CallbackView, DispatchError, type EndpointCallbackQuery, type Resent } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { Queue } from '@dispatch/queue'
import { type CallbackRecord, listCallbacks, listEndpointCallbacks, listFailedCallbacks, replayCallback,
  resendFailed } from '../store/callbacks.ts'
import type { EndpointRef } from '../store/endpoints.ts'
import { callbackJob, claimFor } from './delivery.ts'

/** The most callbacks that one request sends again. */
export const maxResent = 1000

/** The callbacks of companies, as they read and repeat them. */
export type Callbacks = {
  /** Those of a dispatch to its address, or about the company itself (`dispatchId` null), in their order. */
  list: (companyId: number, dispatchId: string | null, page: { limit: number, after?: string }) => Promise<CallbackView[]>
  /** Those that addresses have not received, the newest first. */
  failed: (companyId: number, page: { limit: number, after?: string }) => Promise<CallbackView[]>
  /** Those of an endpoint, the newest first. */
  ofEndpoint: (endpoint: EndpointRef, query: EndpointCallbackQuery & { limit: number }) => Promise<CallbackView[]>
  /**
   * Makes a callback due at once. Throws `conflict` while it is being sent, when its body is no longer kept, and where its endpoint is
   * disabled. Undefined when the company has no such callback.
   */
  replay: (author: AuditAuthor, callbackId: string) => Promise<CallbackView | undefined>
  /**
   * Sends again what an endpoint has not taken since a time, the oldest first, at most {@link maxResent} callbacks. Throws `conflict` where
   * the endpoint is disabled. Undefined when the company has no such endpoint.
   */
  resend: (author: AuditAuthor, endpointId: string, since: Date) => Promise<Resent | undefined>
}

export const callbacks = token<Callbacks>('callbacks')

type Options = { database: Database, queue: Pick<Queue, 'send'>, now: () => Date }

/** Lists callbacks, and makes them due again. Throws `conflict` for one that cannot be sent again now. */
export function createCallbacks ({ database, queue, now }: Options): Callbacks {
  return {
    list: async (companyId, dispatchId, page) => (await listCallbacks(database, companyId, dispatchId, page)).map(viewOf),

    failed: async (companyId, page) => (await listFailedCallbacks(database, companyId, page)).map(viewOf),

    async ofEndpoint (endpoint, { limit, cursor, failedSince, ...filter }) {
      const page = { limit, ...(cursor === undefined ? {} : { after: cursor }) }
      const since = failedSince === undefined ? {} : { failedSince: new Date(failedSince) }
      return (await listEndpointCallbacks(database, endpoint, { ...filter, ...since }, page)).map(viewOf)
    },

    async replay (author, callbackId) {
      const { companyId } = author
      const replayed = await replayCallback(database, companyId, callbackId, { author, at: now(), seconds: claimFor })
      if (replayed === undefined) return undefined
      if (typeof replayed === 'string') throw new DispatchError('conflict', whyNot[replayed])
      await queue.send('callback', [callbackJob({ companyId, toEndpoint: replayed.endpoint_id !== null }, callbackId)])
      return viewOf(replayed)
    },

    async resend (author, endpointId, since) {
      const { companyId } = author
      const queued = await resendFailed(database, { companyId, endpointId }, { author, at: now(), since, max: maxResent })
      if (queued === undefined) return undefined
      if (queued === 'disabled') throw new DispatchError('conflict', whyNot.disabled)
      // One job is enough: each that sends a callback queues the next.
      if (queued > 0) await queue.send('callback', [callbackJob({ companyId, toEndpoint: true }, 'next')])
      return { queued, more: queued === maxResent }
    }
  }
}

/** Why a callback is not sent again. */
const whyNot = {
  'under way': 'The callback is being sent at this moment; its attempts tell what came of it.',
  'forgotten': 'The callback was sent so long ago that its body is no longer kept; read the dispatch with GET /api/v1/dispatches/{id}.',
  'disabled': 'The endpoint of the callback is disabled or removed: enable it with PUT /api/v1/company/callback-endpoints/{id} first.'
}

/** A callback as its company reads it. */
function viewOf (callback: CallbackRecord): CallbackView {
  return {
    id: callback.callback_id,
    ...(callback.dispatch_id === null ? {} : { dispatchId: callback.dispatch_id }),
    type: callback.type,
    sequence: callback.sequence,
    receiver: callback.receiver,
    state: callback.state,
    attempts: callback.attemptRows.map(({ number, at, outcome, status, milliseconds, reason }) => ({
      number,
      at: at.toISOString(),
      outcome,
      ...(status === null ? {} : { status }),
      ...(milliseconds === null ? {} : { milliseconds }),
      ...(reason === null ? {} : { reason })
    })),
    nextAttemptAt: callback.next_at?.toISOString() ?? null,
    createdAt: callback.created_at.toISOString()
  }
}
