import type { PreparedJobs } from '@dispatch/tables'
import type { DispatchRef, StepRef } from '../store/dispatch/runs.ts'
import type { SayingPoll } from '../store/vendor/sayings.ts'

/** The jobs of what goes on later: at once, not before so many seconds have passed, or at a time. */
export type PipelineJobs = {
  dispatch: (dispatch: DispatchRef, seconds?: number) => PreparedJobs
  /** Of a dispatch that is due at a time (ISO 8601), to which it may have been moved; `inBatch`: as {@link batched} then. */
  scheduled: (dispatch: DispatchRef, dueAt: string, inBatch?: boolean) => PreparedJobs
  /** Of a dispatch of a batch: whatever is asked for singly within the next minute goes before it. */
  batched: (dispatch: DispatchRef) => PreparedJobs
  deferred: (dispatch: DispatchRef, step: Pick<StepRef, 'stepId'>, seconds?: number) => PreparedJobs
  saying: (look: SayingPoll, seconds: number) => PreparedJobs
}
