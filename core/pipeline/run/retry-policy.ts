import type { ReconcileSchedule } from '../../store/dispatch/lease.ts'
import { isCallable, type Step } from '../step.ts'

const [second, minute, hour, day] = [1, 60, 3600, 24 * 3600]

/** Seconds before a step that was surely not sent is tried again by itself; after the last it has failed. */
const retries = [2 * second, 10 * second, minute, 5 * minute, 30 * minute, 2 * hour]

/** Seconds after which an uncertain step is looked at; then daily, for as long as its price stays held. */
const looks = [10 * second, minute, 5 * minute, hour] as const

/** Seconds that an uncertain step is looked at, and keeps its hold. */
const doubtful = 7 * day

/** Seconds within which a chain goes on by itself when an uncertain step of it turns out accepted. */
export const chainResumeWindow = day

/**
 * Seconds until a step that was surely not sent is tried again, give or take a fifth that differs by step, but no fewer than its vendor
 * `asked` for; undefined: not by itself.
 */
export function retryDelayOf ({ stepId, tries, asked = 0 }: { stepId: string, tries: number, asked?: number | undefined }):
  | number
  | undefined
{
  const seconds = retries[tries]
  return seconds === undefined ? undefined : Math.max(asked, seconds * (0.8 + 0.4 * jitterOf(stepId)))
}

/** From 0 to 1: the last four digits of a UUIDv7 are random. */
function jitterOf (stepId: string): number {
  return Number.parseInt(stepId.slice(-4), 16) / 0xffff
}

/** Seconds until a step is looked at first whose process was lost. */
export const firstReconcileDelay = looks[0]

/** When an uncertain step is looked at next; once its time is over it waits for a person, and holds nothing. */
export function reconcileScheduleOf (step: Step, done = step.state.looks): ReconcileSchedule {
  if (!isCallable(step) || !canTell(step.by.provider.manifest.services[step.service])) return { after: doubtful, last: doubtful }
  return { after: looks[done] ?? hour + day * (done - looks.length + 1), last: doubtful }
}

/** Whether it can be found out what became of a request: by its key, by looking, or because nothing counts before its checkpoint. */
function canTell (offered: { idempotency: { kind: string }, checkpoint?: true } | undefined): boolean {
  return offered !== undefined && (offered.idempotency.kind !== 'none' || offered.checkpoint === true)
}
