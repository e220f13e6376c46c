import { type AuditAuthor, notifyUrlOf } from '@dispatch/accounts'
import type { Log } from '@dispatch/common'
import { type CallbackView, DispatchError, type EndpointCallbackQuery, type Resent } from '@dispatch/contract'
import type { Outbox } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { Queue } from '@dispatch/queue'
import { type Network, postToTenant } from '@dispatch/vendor-io'
import { hasDueCallbacks, listCompaniesDue } from '../store/callbacks.ts'
import { claimEndpointCallback, listEndpointCallbacks, ofEndpoints, replayEndpointCallback, resendFailed,
  settleEndpointCallback } from '../store/endpoint-callbacks.ts'
import type { EndpointRef } from '../store/endpoints.ts'
import { viewOf, whyNot } from './callbacks.ts'
import { callbackJob, claimFor, createDelivery, type Delivery } from './delivery.ts'
import type { EndpointSigning } from './endpoint-signing.ts'

/** The most callbacks that one request sends again. */
export const maxResent = 1000

export type EndpointCallbacks = Delivery & {
  /** Those of an endpoint, the newest first. */
  list: (endpoint: EndpointRef, query: EndpointCallbackQuery & { limit: number }) => Promise<CallbackView[]>
  /**
   * Makes a callback due at once. Throws `conflict` while it is being sent, when its body is no longer kept, and where its endpoint is
   * disabled. Undefined when the company has no such callback.
   */
  replay: (author: AuditAuthor, callbackId: string) => Promise<CallbackView | undefined>
  /**
   * Sends again what has failed since a time, the oldest first, at most {@link maxResent} callbacks. Throws `conflict` where the endpoint
   * is disabled. Undefined when the company has no such endpoint.
   */
  resend: (author: AuditAuthor, endpointId: string, since: Date) => Promise<Resent | undefined>
}

export const endpointCallbacks = token<EndpointCallbacks>('endpointCallbacks')

type Options = {
  database: Database
  outbox: Pick<Outbox, 'tell'>
  queue: Pick<Queue, 'send'>
  network: Pick<Network, 'transport'>
  signing: Pick<EndpointSigning, 'sign'>
  log: Log
  now: () => Date
  random?: () => number
}

/** Sends callbacks to the endpoints of companies. */
export function createEndpointCallbacks ({ database, outbox, network, signing, now, ...options }: Options): EndpointCallbacks {
  const { queue } = options
  const delivery = createDelivery({
    to: 'endpoints',
    claim: (companyId, limits) => claimEndpointCallback(database, companyId, limits),
    hasDue: (companyId, seconds) => hasDueCallbacks(database, companyId, seconds, ofEndpoints),
    companiesDue: (seconds) => listCompaniesDue(database, seconds, ofEndpoints),
    send: ({ callbackId: id, url, body, ...endpoint }) =>
      postToTenant(network.transport, { url, body, now: now(), headers: signing.sign(endpoint, { id, body }) }),
    settle: (claimed, end) =>
      settleEndpointCallback(database, claimed, end, async (queries, { type, failingSince, ...endpoint }) => {
        const { companyId } = claimed
        const url = await notifyUrlOf(queries, companyId)
        const data = { companyId, ...endpoint, failingSince: failingSince.toISOString() }
        await outbox.tell(queries, companyId, { type, data, ...(url === null ? {} : { url }) })
      })
  }, options)
  return {
    ...delivery,

    list: async (endpoint, { limit, cursor, ...filter }) => {
      const page = { limit, ...(cursor === undefined ? {} : { after: cursor }) }
      return (await listEndpointCallbacks(database, endpoint, filter, page)).map(viewOf)
    },

    async replay (author, callbackId) {
      const { companyId } = author
      const replayed = await replayEndpointCallback(database, companyId, callbackId, { author, at: now(), seconds: claimFor })
      if (replayed === undefined) return undefined
      if (typeof replayed === 'string') throw new DispatchError('conflict', whyNot[replayed])
      await queue.send('callback', [callbackJob(companyId, callbackId, 'endpoints')])
      return viewOf(replayed)
    },

    async resend (author, endpointId, since) {
      const { companyId } = author
      const queued = await resendFailed(database, { companyId, endpointId }, { author, at: now(), since, max: maxResent })
      if (queued === undefined) return undefined
      if (queued === 'disabled') throw new DispatchError('conflict', whyNot.disabled)
      // One job is enough: each that sends a callback queues the next.
      if (queued > 0) await queue.send('callback', [callbackJob(companyId, 'next', 'endpoints')])
      return { queued, more: queued === maxResent }
    }
  }
}
