import { type Log, observe } from '@dispatch/common'
import { type AttemptOutcome, within } from '@dispatch/contract'
import type { Job, Queue } from '@dispatch/queue'
import { type ReceiverAnswer, receiverLimit } from '@dispatch/vendor-io'
import type { AttemptEnd, ClaimedCallback, ClaimLimits } from '../store/callbacks.ts'

/**
 * Seconds from one try to the next; each pause is lengthened by up to a tenth, or to what the receiver asks for by Retry-After. Told in
 * plugins/guides/client.md and the OpenAPI document too.
 */
export const callbackRetryDelays = [0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600]
const jitter = 0.1

/**
 * The most requests at the same time: `atOnce` in this process, besides those that wait for longer than 100 ms, `perCompany` and
 * `perReceiver` in all processes. A receiver that does not answer delays neither the company's other receivers nor other companies.
 */
export const callbackLimits = { atOnce: 16, perCompany: 8, perReceiver: 4 } as const

/** Seconds after the begin of an attempt: a process that has not recorded it by then has ended. */
export const claimFor = receiverLimit / 1000 + 5
/** Seconds after which a due callback has surely lost its job. */
const strandedAfter = 60

/** The receivers of callbacks of one kind: the addresses of dispatches and companies, or the endpoints of companies. */
export type Receivers = 'addresses' | 'endpoints'

/** Where callbacks of one kind stand, and how one of them is sent. */
export type DeliverySource<Claimed extends ClaimedCallback> = {
  to: Receivers
  claim: (companyId: number, limits: ClaimLimits) => Promise<Claimed | undefined>
  /** Whether some are due within so many seconds. */
  hasDue: (companyId: number, seconds: number) => Promise<boolean>
  /** Companies with callbacks that have been due for so many seconds. */
  companiesDue: (seconds: number) => Promise<number[]>
  send: (claimed: Claimed) => Promise<ReceiverAnswer>
  settle: (claimed: Claimed, end: AttemptEnd) => Promise<void>
}

export type Delivery = {
  /** Sends the company's callback that has been due for longest, and queues the next one. */
  deliver: (job: { companyId: number }) => Promise<void>
  /** Finds companies whose due callbacks have lost their jobs. */
  sweep: () => Promise<void>
}

type Options = { queue: Pick<Queue, 'send'>, log: Log, random?: () => number }

/** Delivers callbacks, each at least once. A job says only whose turn it is; the table says what is due. */
export function createDelivery<Claimed extends ClaimedCallback> (
  source: DeliverySource<Claimed>,
  { queue, log, random = Math.random }: Options
): Delivery {
  function endOf (posted: ReceiverAnswer, tries: number, milliseconds: number): AttemptEnd {
    const told = toldOf(posted, milliseconds)
    const { outcome } = told
    if (outcome !== 'failed') return { ...told, state: outcome }
    const pause = callbackRetryDelays[tries]
    if (pause === undefined) return { ...told, state: 'failed' }
    const asked = posted.answered ? posted.retryAfter ?? 0 : 0
    return { ...told, state: 'pending', after: Math.max(asked, pause * (1 + jitter * random())) }
  }

  async function attempt (claimed: Claimed): Promise<void> {
    const { companyId, dispatchId, callbackId, number, tries } = claimed
    const begun = performance.now()
    const end = endOf(await source.send(claimed), tries, Math.round(performance.now() - begun))
    // Queued before the attempt is recorded: a job too many does nothing, while a missing one would wait for the sweep.
    if (end.state === 'pending') await queue.send('callback', [callbackJob(companyId, callbackId, source.to, end.after)])
    await source.settle(claimed, end)
    observe('callback', { outcome: end.outcome, seconds: end.milliseconds / 1000 })
    log.debug({ companyId, dispatchId, callbackId, attempt: number, outcome: end.outcome, status: end.status, ms: end.milliseconds },
      'callback sent')
  }

  async function next (companyId: number): Promise<void> {
    if (await source.hasDue(companyId, 0)) await queue.send('callback', [callbackJob(companyId, 'next', source.to)])
  }

  return {
    async deliver ({ companyId }) {
      const claimed = await source.claim(companyId, { seconds: claimFor, ...callbackLimits })
      if (claimed !== undefined) {
        // Before the attempt, so that other workers go on; and after it, because they may have found the receiver busy.
        await next(companyId)
        const { traceparent } = claimed
        await within('callback', traceparent === null ? {} : { traceparent }, () => attempt(claimed))
        await next(companyId)
      } else if (await source.hasDue(companyId, claimFor)) {
        // Other workers send the rest. This job comes later, in case they are killed.
        await queue.send('callback', [callbackJob(companyId, 'watch', source.to, claimFor)])
      }
    },

    async sweep () {
      const companies = await source.companiesDue(strandedAfter)
      await queue.send('callback', companies.map((companyId) => callbackJob(companyId, 'next', source.to)))
    }
  }
}

/**
 * The job that sends the company's callback that has been due for longest. `after` in seconds. Those to endpoints are jobs of their own.
 */
export function callbackJob (companyId: number, key: string, to: Receivers = 'addresses', after = 0): Job<'callback'> {
  const whose = to === 'addresses' ? String(companyId) : `${companyId} endpoints`
  // One second more: the job is added before the due time of the callback is recorded.
  return {
    data: { companyId, ...(to === 'endpoints' ? { endpoints: true } : {}) },
    key: `${whose} ${key}`,
    ...(after === 0 ? {} : { after: Math.ceil(after) + 1 })
  }
}

/** What one request to a receiver came to. */
export function toldOf (
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
