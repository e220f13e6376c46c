import type { AuditAuthor } from '@dispatch/accounts'
import type { Log } from '@dispatch/common'
import { type CallbackView, DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { Queue } from '@dispatch/queue'
import { type Network, postToTenant } from '@dispatch/vendor-io'
import { type CallbackRecord, claimCallback, type EnqueueCallback, hasDueCallbacks, listCallbacks, listCompaniesDue, listFailedCallbacks,
  replayCallback, settleCallback } from '../store/callbacks.ts'
import type { CallbackSigning } from './callback-secrets.ts'
import { callbackJob, claimFor, createDelivery, type Delivery } from './delivery.ts'

/** Adds the job that delivers a recorded callback. */
export function enqueueCallback (queue: Pick<Queue, 'send'>): EnqueueCallback {
  return (queries, { companyId, callbackId }) => queue.send('callback', [callbackJob(companyId, callbackId)], queries)
}

export type Callbacks = Delivery & {
  /** Those of a dispatch, or about the company itself (`dispatchId` null), in their order. */
  list: (companyId: number, dispatchId: string | null, page: { limit: number, after?: string }) => Promise<CallbackView[]>
  /** Those that were not received, the newest first. */
  failed: (companyId: number, page: { limit: number, after?: string }) => Promise<CallbackView[]>
  /**
   * Makes a callback due at once. Throws `conflict` while it is being sent, and when its body is no longer kept. Undefined when the company
   * has no such callback.
   */
  replay: (author: AuditAuthor, callbackId: string) => Promise<CallbackView | undefined>
}

export const callbacks = token<Callbacks>('callbacks')

type Options = {
  database: Database
  queue: Pick<Queue, 'send'>
  network: Pick<Network, 'transport'>
  signing: CallbackSigning
  log: Log
  now: () => Date
  random?: () => number
}

/** Sends callbacks to the addresses of dispatches and companies. */
export function createCallbacks ({ database, network, signing, now, ...options }: Options): Callbacks {
  const { queue } = options
  const delivery = createDelivery({
    to: 'addresses',
    claim: (companyId, limits) => claimCallback(database, companyId, limits),
    hasDue: (companyId, seconds) => hasDueCallbacks(database, companyId, seconds),
    companiesDue: (seconds) => listCompaniesDue(database, seconds),
    send: async ({ callbackId: id, companyId, url, body }) =>
      postToTenant(network.transport, { url, body, now: now(), headers: await signing.sign(companyId, { id, body }) }),
    settle: (claimed, end) => settleCallback(database, claimed, end)
  }, options)
  return {
    ...delivery,

    list: async (companyId, dispatchId, page) => (await listCallbacks(database, companyId, dispatchId, page)).map(viewOf),

    failed: async (companyId, page) => (await listFailedCallbacks(database, companyId, page)).map(viewOf),

    async replay (author, callbackId) {
      const { companyId } = author
      const replayed = await replayCallback(database, companyId, callbackId, { author, at: now(), seconds: claimFor })
      if (replayed === undefined) return undefined
      if (typeof replayed === 'string') throw new DispatchError('conflict', whyNot[replayed])
      await queue.send('callback', [callbackJob(companyId, callbackId)])
      return viewOf(replayed)
    }
  }
}

/** Why a callback is not sent again. */
export const whyNot = {
  'under way': 'The callback is being sent at this moment; its attempts tell what came of it.',
  'forgotten': 'The callback was sent so long ago that its body is no longer kept; read the dispatch with GET /api/v1/dispatches/{id}.',
  'disabled': 'The endpoint of the callback is disabled or removed: enable it with PUT /api/v1/company/callback-endpoints/{id} first.'
}

/** A callback as its company reads it. */
export function viewOf (callback: Omit<CallbackRecord, 'url'>): CallbackView {
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
