import type { Moved } from '../store/deliveries.ts'
import { awakeDeferred } from '../store/runs.ts'
import type { Parts } from '../pipeline/parts.ts'

/** What follows when a delivery status has moved: the steps of the dispatch that wait for it are done. */
export function createMoved ({ jobs, now }: Pick<Parts, 'jobs' | 'now'>): Moved {
  return async (queries, { companyId, dispatchId, service }, status) => {
    const time = now()
    for (const stepId of await awakeDeferred(queries, { companyId, dispatchId, on: `${service}.${status}` }, time)) await jobs.deferred({ companyId, dispatchId }, { stepId }, time)(queries)
  }
}
