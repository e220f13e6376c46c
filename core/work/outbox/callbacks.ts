import type { AttemptOutcome, CallbackView } from '../../contract/callbacks.ts'
import { DispatchError } from '../../contract/errors.ts'
import { observe } from '../../contract/observations.ts'
import type { Log } from '../../host/call/log.ts'
import { postToTenant, type ReceiverAnswer, receiverLimit } from '../../host/http/callback.ts'
import type { Network } from '../../host/http/network.ts'
import type { Database } from '../../store/db/database.ts'
import type { AuditAuthor } from '../../store/tenants/audit.ts'
import { type AttemptEnd, type CallbackRecord, claimCallback, type ClaimedCallback, type EnqueueCallback, hasDueCallbacks, listCallbacks,
  listCompaniesDue, replayCallback, settleCallback } from '../../store/vendor/callbacks.ts'
import type { Job, JobPayloads, Queue } from '../queue/queue.ts'
import type { CallbackSigning } from './callback-secrets.ts'

/**
 * Seconds from one try to the next; each pause is lengthened by up to a tenth. Told in plugins/README.md and the OpenAPI document too.
 */
export const callbackRetryDelays = [0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600]
const jitter = 0.1

/**
 * The most requests at the same time: `atOnce` in this process, `perCompany` and `perReceiver` in all processes. A receiver that does not
 * answer delays neither the company's other receivers nor other companies.
 */
export const callbackLimits = { atOnce: 16, perCompany: 8, perReceiver: 4 } as const

/** Seconds after the begin of an attempt: a process that has not recorded it by then has ended. */
const claimFor = receiverLimit / 1000 + 5
/** Seconds after which a due callback has surely lost its job. */
const strandedAfter = 60

/** Adds the job that delivers a recorded callback. */
export function enqueueCallback (queue: Pick<Queue, 'send'>): EnqueueCallback {
  return (queries, { companyId, callbackId }) => queue.send('callback', [callbackJob(companyId, callbackId)], queries)
}

export type Callbacks = {
  /** Sends the company's callback that has been due for longest, and queues the next one. */
  deliver: (job: JobPayloads['callback']) => Promise<void>
  /** Finds companies whose due callbacks have lost their jobs. */
  sweep: () => Promise<void>
  /** Those of a dispatch, or about the company itself (`dispatchId` null), in their order. */
  list: (companyId: number, dispatchId: string | null, page: { limit: number, after?: string }) => Promise<CallbackView[]>
  /**
   * Makes a callback due at once. Throws `conflict` while it is being sent, and when its body is no longer kept. Undefined when the company
   * has no such callback.
   */
  replay: (author: AuditAuthor, callbackId: string) => Promise<CallbackView | undefined>
}

type Options = {
  database: Database
  queue: Pick<Queue, 'send'>
  network: Pick<Network, 'transport'>
  signing: CallbackSigning
  log: Log
  now: () => Date
  random?: () => number
}

/** Delivers callbacks, each at least once. A job says only whose turn it is; the table says what is due. */
export function createCallbacks ({ database, queue, network, signing, log, now, random = Math.random }: Options): Callbacks {
  async function send ({ callbackId: id, companyId, url, body }: ClaimedCallback): Promise<ReceiverAnswer> {
    return postToTenant(network.transport, { url, body, headers: await signing.sign(companyId, { id, body }) })
  }

  function endOf (posted: ReceiverAnswer, tries: number, milliseconds: number): AttemptEnd {
    const told = { outcome: outcomeOf(posted), ...(posted.answered ? { status: posted.status } : {}), ...(reasonOf(posted)), milliseconds }
    const { outcome } = told
    if (outcome !== 'failed') return { ...told, state: outcome }
    const pause = callbackRetryDelays[tries]
    return pause === undefined ? { ...told, state: 'failed' } : { ...told, state: 'pending', after: pause * (1 + jitter * random()) }
  }

  async function attempt (claimed: ClaimedCallback): Promise<void> {
    const { companyId, dispatchId, callbackId, number, tries } = claimed
    const begun = performance.now()
    const end = endOf(await send(claimed), tries, Math.round(performance.now() - begun))
    // Queued before the attempt is recorded: a job too many does nothing, while a missing one would wait for the sweep.
    if (end.state === 'pending') await queue.send('callback', [callbackJob(companyId, callbackId, end.after)])
    await settleCallback(database, { companyId, callbackId, number }, end)
    observe('callback', { outcome: end.outcome, seconds: end.milliseconds / 1000 })
    log.debug({ companyId, dispatchId, callbackId, attempt: number, outcome: end.outcome, status: end.status, ms: end.milliseconds },
      'callback sent')
  }

  async function next (companyId: number): Promise<void> {
    if (await hasDueCallbacks(database, companyId, 0)) await queue.send('callback', [callbackJob(companyId, 'next')])
  }

  return {
    async deliver ({ companyId }) {
      const claimed = await claimCallback(database, companyId, { seconds: claimFor, ...callbackLimits })
      if (claimed !== undefined) {
        // Before the attempt, so that other workers go on; and after it, because they may have found the receiver busy.
        await next(companyId)
        await attempt(claimed)
        await next(companyId)
      } else if (await hasDueCallbacks(database, companyId, claimFor)) {
        // Other workers send the rest. This job comes later, in case they are killed.
        await queue.send('callback', [callbackJob(companyId, 'watch', claimFor)])
      }
    },

    async sweep () {
      const companies = await listCompaniesDue(database, strandedAfter)
      await queue.send('callback', companies.map((companyId) => callbackJob(companyId, 'next')))
    },

    list: async (companyId, dispatchId, page) => (await listCallbacks(database, companyId, dispatchId, page)).map(viewOf),

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

/** The job that sends the company's callback that has been due for longest. `after` in seconds. */
export function callbackJob (companyId: number, key: string, after = 0): Job<'callback'> {
  // One second more: the job is added before the due time of the callback is recorded.
  return {
    data: { companyId },
    key: `${companyId} ${key}`,
    group: String(companyId),
    ...(after === 0 ? {} : { after: Math.ceil(after) + 1 })
  }
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

const whyNot = {
  'under way': 'The callback is being sent at this moment; its attempts tell what came of it.',
  'forgotten': 'The callback was sent so long ago that its body is no longer kept; read the dispatch with GET /api/v1/dispatches/{id}.'
}

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
