import type { StepCandidate } from '@dispatch/tables'
import type { Settlement } from '../../store/dispatch/steps.ts'
import type { Step } from '../step.ts'
import { installedFor, type ProviderDependencies } from './installed.ts'
import type { Run } from './run.ts'

/**
 * The provider of the step's list that is tried after an outcome. None is tried after an acceptance or a doubt, and none for the
 * recipients that an accepted e-mail left.
 */
export function nextCandidate ({ by, rest }: Pick<Step, 'by' | 'rest'>, settlement: Settlement): StepCandidate | undefined {
  if (by?.list === undefined || rest !== undefined) return undefined
  const later = by.list.slice(by.list.findIndex(({ code }) => code === by.code) + 1)
  if (settlement.outcome === 'unavailable') return later[0]
  if (settlement.outcome !== 'rejected') return undefined
  const { word } = settlement.error
  return later.find(({ after = [] }) => after.some((one) => one === word))
}

/** The step with another provider of its list, as it is installed now. */
export async function withCandidate (
  dependencies: ProviderDependencies,
  run: Pick<Run, 'companyId' | 'actor'>,
  step: Step,
  { code, version, configuredBy }: StepCandidate
): Promise<Step> {
  if (step.by === undefined) return step
  const { provider: _, ...by } = { ...step.by, code, version, configuredBy }
  return { ...step, by: await installedFor(dependencies, { companyId: run.companyId, userId: run.actor.userId }, step.service, by) }
}

/** A step that was surely not sent, as the next try begins it: with the first provider of its list. */
export async function fromFirst (dependencies: ProviderDependencies, run: Run, step: Step): Promise<Step> {
  const [first] = step.by?.list ?? []
  return first === undefined || step.rest !== undefined || step.state.status !== 'unavailable' || step.by?.code === first.code
    ? step
    : await withCandidate(dependencies, run, step, first)
}

/** Whether another provider of the list was to do the step first. */
export function isFollowing ({ by }: Step): boolean {
  return by?.list !== undefined && by.list[0]?.code !== by.code
}

/**
 * The outcome where a provider that follows cannot do what was made for the first: nothing has been refused by a vendor, and the first can
 * be tried again.
 */
export function leftOut ({ by }: Step, failed: Settlement): Settlement {
  if (!('error' in failed)) return failed
  const message = `The providers before have not sent it, and the provider "${by?.code ?? ''}" cannot: ${failed.error.message}`
  return { outcome: 'unavailable', error: { ...failed.error, word: 'provider_unavailable', message } }
}
