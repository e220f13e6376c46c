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
export type Draft = { request: DispatchRequest, steps: readonly DraftStep[] }

/** `choice`: of its provider, where the service needs one; `settings` are for that provider. */
export type DraftStep = { service: ServiceName, fields: JsonObject, settings: JsonObject, template?: DraftTemplate, choice?: Choice }

/** A template, and the data for it, which stands at `path` in the client's body. */
export type DraftTemplate = { template: StoredTemplate, data: JsonObject, path: string }

/** What will be done, who does it and what it costs. Never changed. */
export type Plan = {
  request: DispatchRequest
  steps: readonly PlannedStep[]
  /** What is done later, each at an event of the dispatch. */
  deferred: readonly (PlannedStep & { deferredOn: string })[]
  facts: Facts
  warnings: readonly Problem[]
}

/**
 * `by`: its provider, where the service needs one; `requestSettings` are for it. `content`: what is made for this step alone;
 * a step that needs a document and has none takes that of the first. `price` in credits.
 */
export type PlannedStep = { service: ServiceName, fields: JsonObject, requestSettings: JsonObject, price: number, content?: TemplateContent, by?: PlannedProvider }

/** A template and the data for it. */
export type TemplateContent = { template: StoredTemplate, data: JsonObject }

export type PlannedProvider = { provider: Installed, chosenBy: ChosenBy, configuredBy: 'user' | 'company', sandbox: boolean }
