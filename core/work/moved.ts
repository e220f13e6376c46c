import { callbackTypes } from '../contract/callbacks.ts'
import type { Parts } from '../pipeline/parts.ts'
import type { Moved } from '../store/deliveries.ts'
import { awakeDeferred } from '../store/runs.ts'

/** What follows when a delivery status has moved: it is called back, and the steps of the dispatch that wait for it are done. */
export function createMoved ({ jobs, notices, now }: Pick<Parts, 'jobs' | 'notices' | 'now'>): Moved {
  return async (queries, { companyId, dispatchId, service }, status) => {
    const time = now()
    const event = `${service}.${status}`
    const type = callbackTypes.find((told) => told === event)
    for (const stepId of await awakeDeferred(queries, { companyId, dispatchId, on: event }, time)) await jobs.deferred({ companyId, dispatchId }, { stepId }, time)(queries)
    if (type !== undefined) await notices.note(queries, { companyId, dispatchId }, type)
  }
}
