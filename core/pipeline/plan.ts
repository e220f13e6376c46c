import type { Choice } from '../configuration/choose.ts'
import type { Problem } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import type { ChosenBy } from '../contract/states.ts'
import type { Installed } from '../host/load.ts'
import type { DispatchRequest } from '../services/request.ts'
import type { Facts } from '../services/service.ts'
import type { ServiceName } from '../services/index.ts'
import type { StoredTemplate } from '../store/templates.ts'

/** What a request comes to before its rules are checked: what was found, and what was not. */
export type Draft = {
  request: DispatchRequest
  /** Where the request names one. */
  template?: StoredTemplate
  steps: readonly DraftStep[]
}

/** `choice`: of its provider, where the service needs one. */
export type DraftStep = { service: ServiceName, fields: JsonObject, choice?: Choice }

/** What will be done, who does it and what it costs. Never changed. */
export type Plan = {
  request: DispatchRequest
  template?: StoredTemplate
  steps: readonly PlannedStep[]
  facts: Facts
  warnings: readonly Problem[]
}

/** `by`: its provider, where the service needs one. `price` in credits. */
export type PlannedStep = { service: ServiceName, fields: JsonObject, price: number, by?: PlannedProvider }

export type PlannedProvider = { provider: Installed, chosenBy: ChosenBy, configuredBy: 'user' | 'company', sandbox: boolean }
