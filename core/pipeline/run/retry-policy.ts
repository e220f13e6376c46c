import type { ReconcileSchedule } from '../../store/dispatch/lease.ts'
import { isCallable, type Step } from '../step.ts'

const [second, minute, hour, day] = [1, 60, 3600, 24 * 3600]

/**
 * Seconds before each retry of a step that was surely not sent. After the last retry it has failed. core/guides/promises.md and
 * providers/smtp/README.md tell them too.
 */
const retries = [2 * second, 10 * second, minute, 5 * minute, 30 * minute, 2 * hour]

/** Seconds after which an uncertain step is reconciled; then daily, for as long as its price stays held. */
const reconcileDelays = [10 * second, minute, 5 * minute, hour] as const

/** Seconds for which an uncertain step is reconciled and its price stays held. */
const uncertain = 7 * day

/** Seconds within which a chain goes on by itself after an uncertain step turned out accepted. */
export const chainResumeWindow = day

/**
 * Seconds until a step that was surely not sent is tried again: the policy's delay ± 20 %, but no less than the vendor asked for
 * (`requested`). Undefined when it is not tried again.
 */
export function retryDelayOf ({ stepId, tries, requested = 0 }: { stepId: string, tries: number, requested?: number | undefined }):
  | number
  | undefined
{
  const seconds = retries[tries]
  return seconds === undefined ? undefined : Math.max(requested, seconds * (0.8 + 0.4 * jitterOf(stepId)))
}

/** From 0 to 1, by the last four digits of the id: they are random in a UUIDv7. */
function jitterOf (stepId: string): number {
  return Number.parseInt(stepId.slice(-4), 16) / 0xffff
}

/** Seconds until the first reconciliation of a step whose process was lost. */
export const firstReconcileDelay = reconcileDelays[0]

/** When an uncertain step is reconciled next. After the last time it waits for a person, and its price is released. */
export function reconcileScheduleOf (step: Step, done = step.state.looks): ReconcileSchedule {
  if (!isCallable(step) || !canTell(step.by.provider.manifest.services[step.service])) return { after: uncertain, last: uncertain }
  return { after: reconcileDelays[done] ?? hour + day * (done - reconcileDelays.length + 1), last: uncertain }
}

/** Whether the outcome of a request can be found: by its idempotency key, by `lookup`, or by a checkpoint that was not reached. */
function canTell (offered: { idempotency: { kind: string }, checkpoint?: true } | undefined): boolean {
  return offered !== undefined && (offered.idempotency.kind !== 'none' || offered.checkpoint === true)
}
