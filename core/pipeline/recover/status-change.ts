import { callbackTypes, isDeliveryMark, unexpectedAfter } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { services } from '@dispatch/services'
import { addJobs } from '@dispatch/tables'
import { skipUnexpected, wakeDeferred } from '../../store/dispatch/deferred.ts'
import type { OnReply, OnStatusChange } from '../../store/vendor/deliveries.ts'
import type { PipelineJobs } from '../jobs.ts'
import type { Outbox } from '../outbox.ts'
import type { RecipientBook } from '../recipients.ts'

/**
 * What follows a change of a delivery status: deferred steps that wait for it are queued, those whose event can no longer come are skipped,
 * and the company is called back. A mark is only told to the company.
 */
export function createStatusChangeHandler ({ database, jobs, outbox, recipients }: {
  database: Database
  jobs: PipelineJobs
  outbox: Outbox
  recipients: readonly RecipientBook[]
}): OnStatusChange {
  return async (queries, step, status, facts) => {
    const { companyId, dispatchId, service } = step
    for (const book of recipients) await book.statusChanged(queries, step, status, facts)
    const event = `${service}.${status}`
    const type = callbackTypes.find((reported) => reported === event)
    if (!isDeliveryMark(service, status)) {
      const awake = await wakeDeferred(queries, { companyId, dispatchId, on: event }, database.now)
      await addJobs(queries, ...awake.map((stepId) => jobs.deferred({ companyId, dispatchId }, { stepId })))
      const unexpected = unexpectedAfter(service, status).map((other) => `${service}.${other}`)
      const why = `is not to be expected any more: the delivery status is "${status}".`
      await skipUnexpected(queries, { companyId, dispatchId }, { events: unexpected, why }, database.now)
    }
    if (type !== undefined) await outbox.enqueue(queries, { companyId, dispatchId }, type)
  }
}

/** Tells those who know recipients that one wants no more, or again more. What names nobody changes nothing. */
export function createReplyHandler ({ recipients }: { recipients: readonly RecipientBook[] }): OnReply {
  return async (queries, { companyId, service, recipient, wants }) => {
    const address = services[service].recipients?.known(recipient)
    if (address === undefined) return
    for (const book of recipients) await book.answered(queries, companyId, { service, address }, wants)
  }
}
