import { notifyUrlOf } from '@dispatch/accounts'
import { type Log, observe } from '@dispatch/common'
import { type AttemptOutcome, within } from '@dispatch/contract'
import type { Outbox } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { Job, Queue } from '@dispatch/queue'
import { type Network, postToTenant, type ReceiverAnswer, receiverLimit } from '@dispatch/vendor-io'
import { type AttemptEnd, claimCallback, type ClaimedCallback, type DueCallbacks, findDueCallbacks, listCompaniesDue,
  settleCallback } from '../store/attempts.ts'
import type { FailingEndpoint } from '../store/failing-endpoints.ts'
import type { Signing } from './signing.ts'

/**
 * Seconds from one try to the next; each pause is lengthened by up to a tenth, or to what the receiver asks for by Retry-After. Told in
 * plugins/guides/client.md and the OpenAPI document too.
 */
export const callbackRetryDelays = [0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600]
const jitter = 0.1

/**
 * The most requests at the same time: `atOnce` in this process, besides those that wait for longer than 100 ms; in all processes
 * `perCompany` to addresses and as many to endpoints, and `perReceiver` to one of these. A receiver that does not answer delays neither the
 * company's other receivers nor other companies.
 */
export const callbackLimits = { atOnce: 16, perCompany: 8, perReceiver: 4 } as const

/** Seconds after the begin of an attempt: a process that has not recorded it by then has ended. */
export const claimFor = receiverLimit / 1000 + 5
/** Seconds after which a due callback has surely lost its job. */
const strandedAfter = 60

export type Delivery = {
  /** Sends the company's callback that has been due for longest and whose receiver is not busy, and queues the next one. */
  deliver: (job: { companyId: number }) => Promise<void>
  /** Finds companies whose due callbacks have lost their jobs. */
  sweep: () => Promise<void>
}

export const delivery = token<Delivery>('callbackDelivery')

type Options = {
  database: Database
  queue: Pick<Queue, 'send'>
  network: Pick<Network, 'transport'>
  signing: Pick<Signing, 'sign'>
  outbox: Pick<Outbox, 'tell'>
  log: Log
  now: () => Date
  random?: () => number
}

/** Delivers callbacks, each at least once. A job says only whose turn it is; the table says what is due. */
export function createDelivery ({ database, queue, network, signing, outbox, log, now, random = Math.random }: Options): Delivery {
  function endOf (posted: ReceiverAnswer, tries: number, milliseconds: number): AttemptEnd {
    const reported = attemptOf(posted, milliseconds)
    const { outcome } = reported
    if (outcome !== 'failed') return { ...reported, state: outcome }
    const pause = callbackRetryDelays[tries]
    if (pause === undefined) return { ...reported, state: 'failed' }
    const requested = posted.answered ? posted.retryAfter ?? 0 : 0
    return { ...reported, state: 'pending', after: Math.max(requested, pause * (1 + jitter * random())) }
  }

  async function attempt (claimed: ClaimedCallback): Promise<void> {
    const { companyId, endpointId, dispatchId, callbackId, number, tries, url, body, secrets } = claimed
    const begun = performance.now()
    const headers = await signing.sign({ companyId, endpointId, secrets }, { id: callbackId, body })
    const posted = await postToTenant(network.transport, { url, body, now: now(), headers })
    const end = endOf(posted, tries, Math.round(performance.now() - begun))
    // Queued before the attempt is recorded: a job too many does nothing, while a missing one would wait for the sweep.
    if (end.state === 'pending') {
      await queue.send('callback', [callbackJob({ companyId, toEndpoint: endpointId !== null }, callbackId, end.after)])
    }
    await settleCallback(database, claimed, end, (queries, failing) => notifyFailing(queries, companyId, failing))
    observe('callback', { outcome: end.outcome, seconds: end.milliseconds / 1000 })
    log.debug({ companyId, dispatchId, callbackId, attempt: number, outcome: end.outcome, status: end.status, ms: end.milliseconds },
      'callback sent')
  }

  /** Tells a company of an endpoint that fails. */
  async function notifyFailing (
    queries: OwnerQueries,
    companyId: number,
    { type, failingSince, ...endpoint }: FailingEndpoint
  ): Promise<void> {
    const url = await notifyUrlOf(queries, companyId)
    const data = { companyId, ...endpoint, failingSince: failingSince.toISOString() }
    await outbox.tell(queries, companyId, { type, data, ...(url === null ? {} : { url }) })
  }

  /** Queues a job for each kind that is due: a process of release 1.1 sends only the kind of its job, and its receivers may be busy. */
  async function next (companyId: number): Promise<void> {
    const due = await findDueCallbacks(database, companyId, 0)
    if (due.length > 0) await queue.send('callback', due.map((kind) => callbackJob(kind, 'next')))
  }

  return {
    async deliver ({ companyId }) {
      const claimed = await claimCallback(database, companyId, { seconds: claimFor, ...callbackLimits })
      if (claimed !== undefined) {
        // Before the attempt, so that other workers go on; and after it, because they may have found the receiver busy.
        await next(companyId)
        const { traceparent } = claimed
        await within('callback', traceparent === null ? {} : { traceparent }, () => attempt(claimed))
        await next(companyId)
        return
      }
      const due = await findDueCallbacks(database, companyId, claimFor)
      // Other workers send the rest. These jobs come later, in case they are killed.
      if (due.length > 0) await queue.send('callback', due.map((kind) => callbackJob(kind, 'watch', claimFor)))
    },

    async sweep () {
      const companies = await listCompaniesDue(database, strandedAfter)
      await queue.send('callback', companies.map((due) => callbackJob(due, 'next')))
    }
  }
}

/**
 * The job that sends the company's callback that has been due for longest. `after` in seconds. Processes of the release before find those
 * to endpoints only by jobs that say so.
 */
export function callbackJob ({ companyId, toEndpoint }: DueCallbacks, key: string, after = 0): Job<'callback'> {
  const whose = toEndpoint ? `${companyId} endpoints` : String(companyId)
  // One second more: the job is added before the due time of the callback is recorded.
  return {
    data: { companyId, ...(toEndpoint ? { endpoints: true } : {}) },
    key: `${whose} ${key}`,
    ...(after === 0 ? {} : { after: Math.ceil(after) + 1 })
  }
}

/** What one request to a receiver came to. */
export function attemptOf (
  posted: ReceiverAnswer,
  milliseconds: number
): { outcome: AttemptOutcome, status?: number, reason?: string, milliseconds: number } {
  return { outcome: outcomeOf(posted), ...(posted.answered ? { status: posted.status } : {}), ...reasonOf(posted), milliseconds }
}

/** 410 means that the receiver is gone for good (Standard Webhooks 1.0.0). */
function outcomeOf (posted: ReceiverAnswer): AttemptOutcome {
  if (!posted.answered) return 'failed'
  if (posted.status >= 200 && posted.status < 300) return 'delivered'
  return posted.status === 410 ? 'stopped' : 'failed'
}

function reasonOf (posted: ReceiverAnswer): { reason?: string } {
  if (!posted.answered) return { reason: posted.reason }
  const { status } = posted
  if (status >= 300 && status < 400) return { reason: `It answered ${status}; redirects are not followed.` }
  return outcomeOf(posted) === 'delivered' ? {} : { reason: `It answered ${status} instead of 200.` }
}
