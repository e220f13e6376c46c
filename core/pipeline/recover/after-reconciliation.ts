import type { DispatchStatus } from '../../contract/states.ts'
import type { Following, Settlement } from '../../store/dispatch/steps.ts'
import type { Parts } from '../dependencies.ts'
import { goesOn, retryAfter } from '../run/retry-policy.ts'
import { afterAnswer, allOf } from '../run/remaining-recipients.ts'
import { isBeside, type Run, type RunStep } from '../run/run.ts'
import { ended, statusAfter } from '../run/settle.ts'

/** What was found out about a step in doubt. `again`: it was surely not sent, and may be by itself. */
export type Finding = { settlement: Settlement, again?: boolean }

/**
 * What follows when it is found out what became of a step, so many seconds after its doubt began (`doubted`), of a dispatch
 * that was in the state `from`. Whoever waited for it was answered long ago.
 */
export function conclusionOf (parts: Parts, run: Run, step: RunStep, { settlement, again = false, doubted, from }: Finding & { doubted: number, from: DispatchStatus }): Following {
  const tryAfter = again ? retryAfter(step) : undefined
  const next = { detached: true, ...(tryAfter === undefined ? {} : { tryAfter }) }
  if (tryAfter !== undefined) return isBeside(step) ? { ...next, jobs: [parts.jobs.deferred(run, step, tryAfter)] } : { ...next, status: 'queued', jobs: [parts.jobs.dispatch(run, tryAfter)] }
  const after = afterAnswer(parts, run, step, settlement)
  if (isBeside(step)) return { ...next, ...allOf(after) }
  const status = statusAfter(run, step, settlement, run.steps.map(({ result }) => result))
  if (status === 'running' && doubted <= goesOn && holdsRest.has(from)) return { ...next, status: 'queued', jobs: [parts.jobs.dispatch(run)], ...allOf(after) }
  const end = status === 'running' ? 'partial' : status
  return { ...next, status: end, ...ended(parts, run, end, after) }
}

/** The states in which the price of what follows the step is still held. */
const holdsRest: ReadonlySet<DispatchStatus> = new Set(['running', 'uncertain', 'queued'])
