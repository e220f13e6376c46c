import type { Queue } from '@dispatch/queue'
import type { PipelineJobs } from '../pipeline/jobs.ts'

/** Milliseconds between the turns of two dispatches of one company: 100 a second is its fair share. */
const turnInterval = 10

/** Milliseconds for one unit of the queue's priority, a 32-bit integer: enough for more than six years. */
const grain = 100
const epoch = Date.parse('2026-01-01T00:00:00Z')

/** Milliseconds by which a dispatch of a batch stands behind one that is asked for by itself. It takes no turn of its company. */
const batchesLater = 60_000

/** The most companies whose last turn is remembered; a forgotten company begins again with now. */
const maxCompanies = 100_000

/**
 * Makes the jobs of dispatches. Each company has turns of its own, one every few milliseconds from now on. So ten thousand dispatches of
 * one company do not delay the first of another, and none waits for ever.
 */
export function createJobs ({ queue, now }: { queue: Pick<Queue, 'jobs'>, now: () => Date }): PipelineJobs {
  const turns = new Map<number, number>()

  /** A delayed job has the priority of its due time, and takes no turn of its company. */
  function priorityOf (companyId: number, seconds: number): number {
    const time = now().getTime()
    return rank(seconds > 0 ? time + seconds * 1000 : nextTurn(companyId, time))
  }

  function nextTurn (companyId: number, time: number): number {
    const turn = Math.max(time, (turns.get(companyId) ?? 0) + turnInterval)
    turns.delete(companyId)
    turns.set(companyId, turn)
    for (const oldest of turns.size > maxCompanies ? turns.keys().take(1) : []) turns.delete(oldest)
    return turn
  }
  const rank = (turn: number): number => -Math.floor((turn - epoch) / grain)
  const wait = (seconds: number): { after?: number } => seconds > 0 ? { after: Math.ceil(seconds) } : {}
  return {
    dispatch: ({ companyId, dispatchId }, seconds = 0) =>
      queue.jobs('dispatch', [{
        data: { companyId, dispatchId },
        key: dispatchId,
        priority: priorityOf(companyId, seconds),
        ...wait(seconds)
      }]),
    // A dispatch that is moved keeps the job of its first time, which will find nothing to do.
    scheduled ({ companyId, dispatchId }, dueAt, inBatch = false) {
      const after = new Date(dueAt)
      return queue.jobs('dispatch', [{
        data: { companyId, dispatchId },
        key: `${dispatchId} ${dueAt}`,
        priority: rank(after.getTime() + (inBatch ? batchesLater : 0)),
        after
      }])
    },
    batched: ({ companyId, dispatchId }) =>
      queue.jobs('dispatch', [{ data: { companyId, dispatchId }, key: dispatchId, priority: rank(now().getTime() + batchesLater) }]),
    deferred: ({ companyId, dispatchId }, { stepId }, seconds = 0) =>
      queue.jobs('deferred', [{ data: { companyId, dispatchId, stepId }, key: stepId, ...wait(seconds) }]),
    saying: (look, seconds) => queue.jobs('saying', [{ data: look, key: `${look.statusId} ${String(look.look)}`, ...wait(seconds) }])
  }
}
