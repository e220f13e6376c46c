import type { Problem } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { fieldWords, fill, wordFor, type Words } from '../language/language.ts'
import type { DispatchView, ProviderView } from '../session/api.ts'
import { anchors } from './anchors.ts'
import type { Correctable } from './dispatch-correction.ts'
import { notice, sentences } from './layout.ts'
import { nameOf } from './provider-names.ts'

type Step = Pick<DispatchView['steps'][number], 'service' | 'providerName' | 'error'>
type StepError = NonNullable<Step['error']>
type Numbered = Pick<DispatchView, 'documentNumber'>

/** What can be done about a dispatch, as its page offers it. */
export type Ways = {
  retriable: boolean
  uncertain: boolean
  duplicable: boolean
  /** The field of the data to begin with where all of it is sent again: that comes first, as the same again would be refused again. */
  change?: string | undefined
  /** Whether something of it is done, or may be: what is not done comes first then. */
  begun?: boolean
  creditable?: boolean
  correctable: readonly Correctable[]
}

/** A failure that passes: the same request may work later. */
const passing: ReadonlySet<string> = new Set(['provider_unavailable', 'timeout', 'internal_error', 'service_unavailable',
  'document_damaged', 'distant_service_error', 'rate_limited'])
const ofSettings: ReadonlySet<string> = new Set(['authentication_error', 'configuration_missing'])

/** Why a step failed, in words for people; what the vendor said; where; and the one thing that helps. */
export function failureNotice (
  { words, isAdmin }: { words: Words, isAdmin: boolean },
  { step, dispatch, providers }: { step: Step, dispatch: Numbered, providers: readonly ProviderView[] },
  ways: Ways
): Html {
  const { error, providerName } = step
  if (error === undefined) return html``
  const number = takenNumber(dispatch, error)
  const provider = providerName === null ? words.noProvider : nameOf(providers, providerName)
  const cause = number === undefined
    ? fill(causeOf(words, error.error), { provider })
    : fill(words.causeNumberTaken, { provider, number })
  return notice('bad',
    html`<p><strong>${cause}</strong></p>${sentences(words, error)}${
      wayOut(words, { step, error, isAdmin, isNumber: number !== undefined }, ways)
    }`)
}

function causeOf (words: Words, word: string): string {
  const text = wordFor(words, 'cause', word)
  return text === word ? words.causeOther : text
}

type Failed = { step: Step, error: StepError, isAdmin: boolean, isNumber: boolean }

function wayOut (words: Words, { step, error, isAdmin, isNumber }: Failed, ways: Ways): Html {
  const { service, providerName } = step
  const link = (to: string, text: string): Html => html`<p><a class="button second" href="${to}">${text}</a></p>`
  if (ofSettings.has(error.error)) {
    return isAdmin && providerName !== null ? link(`/console/providers/${providerName}`, words.waySettings) : html``
  }
  if (error.error === 'insufficient_credits') return link('/console/credits', words.ledger)
  if (error.error === 'outcome_unknown') return ways.uncertain ? link(`#${anchors.resolve}`, words.wayAsk) : html``
  if (passing.has(error.error)) return ways.retriable ? link(`#${anchors.retry}`, words.retry) : html``
  if (isNumber && ways.change !== undefined) return link(`#${anchors.anew}`, wordOfChange(words, ways.change))
  const inData = (error.details ?? []).some(({ path }) => fieldOfData(path) !== undefined)
  if (!inData && ways.correctable.some((one) => one.step.service === service)) {
    return link(`#${fieldIn(service, error) ?? anchors.correct(service)}`, wayToField(words, service, error))
  }
  if (ways.change !== undefined) return link(`#${anchors.anew}`, wordOfChange(words, ways.change))
  if (ways.duplicable && ways.begun !== true) return link(`#${anchors.anew}`, words.sendAnew)
  return ways.retriable ? link(`#${anchors.retry}`, words.retry) : html``
}

/** The field of the form of corrections at which a vendor has found something. */
function fieldIn (service: string, { details = [] }: StepError): string | undefined {
  const name = nameIn(service, details)
  return name === undefined ? undefined : `f-${service}.${name}`
}

function nameIn (service: string, details: readonly Problem[]): string | undefined {
  return details.map(({ path }) => /^\/([\w-]+)\/([\w-]+)/.exec(path)).find((found) => found?.[1] === service)?.[2]
}

function wayToField (words: Words, service: string, { details = [] }: StepError): string {
  const name = nameIn(service, details)
  return name === undefined ? words.wayCorrect : fill(words.wayCorrectField, { name: fieldWords(words, name).title ?? name })
}

/** The first field of a template's data in a path of a request. */
function fieldOfData (path: string): string | undefined {
  return /^\/template\/data\/([\w-]+)/.exec(path)?.[1]
}

/** The field of the data to begin with where a dispatch is sent again with changes. */
export function fieldToChange (dispatch: DispatchView): string | undefined {
  const errors = dispatch.steps.flatMap(({ error }) => error ?? [])
  if (errors.some((error) => takenNumber(dispatch, error) !== undefined)) return 'number'
  return errors.flatMap(({ details = [] }) => details).map(({ path }) => fieldOfData(path)).find((name) => name !== undefined)
}

/** What to do with the field of the data to begin with. */
export function wordOfChange (words: Words, field: string): string {
  return field === 'number' ? words.wayAnotherNumber : words.wayCorrect
}

/** The number of the document, where the vendor says by its code that it has it already. */
function takenNumber ({ documentNumber }: Numbered, { error, details = [] }: StepError): string | undefined {
  return error === 'provider_error' && details.some(({ code }) => /duplicate|already|taken|not_?unique/i.test(code))
    ? documentNumber
    : undefined
}
