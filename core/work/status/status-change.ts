import { callbackTypes } from '../../contract/callbacks.ts'
import { unexpectedAfter } from '../../contract/delivery.ts'
import type { Parts } from '../../pipeline/dependencies.ts'
import { awakeDeferred, skipUnexpected } from '../../store/dispatch/deferred.ts'
import type { Moved } from '../../store/vendor/deliveries.ts'
import { addJobs } from '../../store/db/jobs.ts'

/** What follows when a delivery status has moved: the steps of the dispatch that wait for it are done, those that wait for what is not to be expected any more are skipped, and it is called back. */
export function createMoved ({ database, jobs, notices }: Pick<Parts, 'database' | 'jobs' | 'notices'>): Moved {
  return async (queries, { companyId, dispatchId, service }, status) => {
    const event = `${service}.${status}`
    const type = callbackTypes.find((told) => told === event)
    const awake = await awakeDeferred(queries, { companyId, dispatchId, on: event }, database.now)
    await addJobs(queries, ...awake.map((stepId) => jobs.deferred({ companyId, dispatchId }, { stepId })))
    const unexpected = unexpectedAfter(service, status).map((other) => `${service}.${other}`)
    const why = `is not to be expected any more: the delivery status is "${status}".`
    await skipUnexpected(queries, { companyId, dispatchId }, { events: unexpected, why }, database.now)
    if (type !== undefined) await notices.note(queries, { companyId, dispatchId }, type)
  }
}
