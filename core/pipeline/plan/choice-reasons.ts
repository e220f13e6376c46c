import type { ChosenBy } from '@dispatch/contract'
import type { Left } from '../../store/dispatch/choices.ts'
import type { StepRecord } from '../../store/dispatch/dispatch-views.ts'

/** A step whose provider was chosen, as its row has it. */
export type ChosenStep = StepRecord & { provider_code: string, chosen_by: ChosenBy }

const choosing = { user: 'default of the user', company: 'default of the company' } as const

/** Why a step has its provider. `left`: the providers that were left before, the oldest first. */
export function whyChosen (step: ChosenStep, left: readonly Left[]): string {
  const { chosen_by: chosenBy, providers: list, provider_code: code } = step
  if (step.configured_by === 'nobody') {
    return 'It stands in for the chosen provider, which has no test environment, because the request is a test.'
  }
  if (chosenBy === 'request') return 'The request names it.'
  const before = left.findLast((one) => one.stepId === step.step_id && one.next === code)
  const of = `the list that is the ${choosing[chosenBy]}`
  // Releases up to 1.1.0 have not noted a provider that was left before it was called.
  if (before !== undefined) return `It follows ${before.code === null ? 'another one' : `"${before.code}"`} in ${of}.`
  // The list is dropped once a step is uncertain or corrected, and where only one of it could do the step.
  if (list === null) return `The ${choosing[chosenBy]} chose it.`
  const total = list.reduce((sum, { weight = 0 }) => sum + weight, 0)
  const { weight = 0 } = list.find((one) => one.code === code) ?? {}
  return total === 0 ? `It is the first of ${of}.` : `It was drawn from ${of}, with a weight of ${weight} in ${total}.`
}

/** What came of a provider that surely did not do a step. */
export function whyLeft ({ error, next }: Left): string {
  const surely = `surely did not send it ("${error}")`
  return next === null ? `It was called, and ${surely}.` : `It ${surely}, and "${next}" was tried next.`
}

/** Why a provider that could do a step does not. */
export function whyNotChosen (step: ChosenStep, isListedNow: () => boolean): string {
  const { chosen_by: chosenBy, provider_code: code, providers: list } = step
  if (step.configured_by === 'nobody') {
    return `The request is a test, and "${code}" stands in for the chosen provider, which has no test environment. Which one that was is ` +
      'not kept.'
  }
  if (chosenBy === 'request') return `The request names "${code}".`
  if (!isListedNow()) {
    return list === null
      ? `The ${choosing[chosenBy]} chose "${code}".`
      : `It does not stand in the list that is the ${choosing[chosenBy]}.`
  }
  if (step.status === 'uncertain') return 'It stands in the list now, but after a doubt nobody else is tried: it could be sent twice.'
  return list === null
    ? 'It stands in the list now; whether it did then is not kept.'
    : 'It stands in the list now, but was not in it, or could not do the step, when the dispatch was planned.'
}
