import type { JsonObject } from '@dispatch/common'
import type { ChosenBy, ConfiguredBy, ListedProvider, ProviderResponse, StepStatus } from '@dispatch/contract'
import type { InstalledProvider } from '@dispatch/host'
import type { ServiceName } from '@dispatch/services'
import type { StepCandidate, StepError } from '@dispatch/tables'
import type { StepRecord } from '../store/dispatch/dispatch-views.ts'
import type { Settlement } from '../store/dispatch/steps.ts'
import { mergedResponse } from './respond/merged-response.ts'
import { type StoredDocument, storedDocument } from './stored-document.ts'
import type { StoredTemplate } from './templates.ts'

/** A step of a dispatch, from its plan to its end: what is done, by whom, what was made for it and how far it has come. */
export type Step = {
  stepId: string
  service: ServiceName
  /** The service's own fields. */
  fields: JsonObject
  /** Where a field of it stands in the client's body, as long as that is there. */
  at?: (field: string) => string
  /** The runtime parameters of its provider. */
  requestSettings: JsonObject
  /** In credits. */
  price: number
  /** What is made for this step alone. A step that needs a document and has no template takes that of the first step. */
  template?: TemplateContent
  /** Absent where the service needs no provider. */
  by?: StepProvider
  /** All that might have been drawn to do it, where those are several; as long as it is a plan. */
  able?: readonly Able[]
  /** The event of the dispatch that it waits for, such as `esign.completed`. */
  deferredOn?: string
  /**
   * It goes on with what the step `of` left: with everything of that step, for these recipients alone. `answer`: the provider's answer with
   * what was done since.
   */
  rest?: { of: string, answer: ProviderResponse, recipients: string[] }
  content: StoredContent
  state: StepState
}

/** A template and the data for it, which stand at `path` in the client's body, as long as that is there. */
export type TemplateContent = { template: StoredTemplate, data: JsonObject, path?: string }

/** `version`: the one that the step was planned or called with. `provider`: as it is installed now, if it still is. */
export type StepProvider = {
  code: string
  version: string
  chosenBy: ChosenBy
  configuredBy: ConfiguredBy
  sandbox: boolean
  provider?: InstalledProvider
  /** All that can do the step, in the order in which they are tried, where there are several. */
  list?: readonly StepCandidate[]
}

/** A provider that can do a step, and the price of that in credits. */
export type Able = Pick<StepProvider, 'code' | 'sandbox'> & Pick<Step, 'price'>

/** What was made of a step's template or came with the request: a document, and what else there is as plain data. Made once. */
export type StoredContent = { document?: StoredDocument, made?: JsonObject }

/** How far a step has come. */
export type StepState = {
  status: StepStatus
  /** With what became of the recipients that the first call left. */
  response: ProviderResponse | null
  error: StepError | null
  /** In credits. */
  charged: number
  /** How often it was surely not sent since it was planned or accepted before. */
  tries: number
  /** How often the vendor has refused it for sure: each time the next call has another idempotency key. */
  generation: number
  /** How often it was looked at since it is in doubt. */
  looks: number
  /** It may have been done since by a database that is lost: nothing is sent before somebody knows. */
  restored?: true
}

/** The state of a step of which nothing has been done. */
export const unbegun: StepState = { status: 'planned', response: null, error: null, charged: 0, tries: 0, generation: 0, looks: 0 }

/** A step whose provider can be called. */
export type CallableStep = Step & { by: StepProvider & Required<Pick<StepProvider, 'provider'>> }

export function isCallable (step: Step): step is CallableStep {
  return step.by?.provider !== undefined
}

/** Whether a step is beside the path of its dispatch, which neither waits for it nor changes with it. */
export function isOffPath ({ deferredOn, rest }: Step): boolean {
  return deferredOn !== undefined || rest !== undefined
}

/** Only what a provider accepted is done: a document that was made here can be made again. */
export function isAcceptedByProvider ({ by, state }: Pick<Step, 'by' | 'state'>): boolean {
  return state.status === 'accepted' && by !== undefined
}

/** The list of a step as clients read it. */
export function listedIn (list: readonly StepCandidate[] | null | undefined): { providers?: ListedProvider[] } {
  if (list === null || list === undefined) return {}
  return {
    providers: list.map(({ code, weight, after }) => ({
      providerName: code,
      ...(weight === undefined ? {} : { weight }),
      ...(after === undefined ? {} : { after })
    }))
  }
}

/** The step with what came of it. One in doubt stays with its provider. */
export function settled ({ by, ...step }: Step, settlement: Settlement): Step {
  const [response, error] = settlement.outcome === 'accepted' ? [settlement.response, null] : [null, settlement.error]
  const provider = settlement.outcome === 'uncertain' && by !== undefined ? withoutList(by) : by
  const state = { ...step.state, status: settlement.outcome, response, error, charged: error === null ? step.price : 0 }
  return { ...step, ...(provider === undefined ? {} : { by: provider }), state }
}

function withoutList ({ list: _, ...by }: StepProvider): StepProvider {
  return by
}

/** The step of a record: what it names, its template and its provider, is looked up where it is done. */
export function stepOf (row: StepRecord): Step {
  const { provider_code: code, provider_version: version, chosen_by: chosenBy, configured_by: configuredBy, sandbox } = row
  return {
    stepId: row.step_id,
    service: row.service as ServiceName,
    fields: row.fields,
    requestSettings: row.request_settings,
    price: row.price,
    // A row has all four, or none of them.
    ...(code === null || version === null || chosenBy === null || configuredBy === null
      ? {}
      : { by: { code, version, chosenBy, configuredBy, sandbox, ...(row.providers === null ? {} : { list: row.providers }) } }),
    ...(row.deferred_on === null ? {} : { deferredOn: row.deferred_on }),
    content: {
      ...(row.document === undefined ? {} : { document: storedDocument(row.document) }),
      ...(row.made === null ? {} : { made: row.made })
    },
    state: stateOf(row)
  }
}

/** How far a recorded step has come. */
export function stateOf (row: StepRecord): StepState {
  return {
    status: row.status,
    response: mergedResponse(row),
    error: row.error,
    charged: row.charged,
    tries: row.tries,
    generation: row.generation,
    looks: row.looks,
    ...(row.restored_to === null ? {} : { restored: true })
  }
}
