import type { JsonObject, Problem } from '@dispatch/common'
import type { Choice } from '../../configuration/choose.ts'
import type { ServiceName } from '../../contract/service-names.ts'
import type { ChosenBy, ConfiguredBy } from '../../contract/states.ts'
import type { InstalledProvider } from '../../host/load/load.ts'
import type { DispatchRequest, RequestStep } from '../../services/request.ts'
import type { Facts } from '../../services/service.ts'
import type { StoredTemplate } from '../../store/templates/templates.ts'

/** What a request comes to before its rules are checked: what was found, and what was not. `test`: nothing real may come of it. */
export type ResolvedRequest = {
  request: DispatchRequest
  test: boolean
  steps: readonly ResolvedStep[]
  deferred: readonly Deferred<ResolvedStep>[]
}

/** `choice`: of its provider, where the service needs one. */
export type ResolvedStep = Omit<RequestStep, 'template'> & { template?: ResolvedTemplate, choice?: Choice }

/** A step that waits for an event of its dispatch, such as `esign.completed`. */
export type Deferred<Step> = Step & { deferredOn: string }

/** A template, and the data for it, which stands at `path` in the client's body. */
export type ResolvedTemplate = { template: StoredTemplate, data: JsonObject, path: string }

/** What will be done, who does it and what it costs. Never changed. */
export type DispatchPlan = {
  request: DispatchRequest
  /** Asked for with a test key: nothing real comes of it, now or later. */
  test: boolean
  steps: readonly PlannedStep[]
  /** What is done later, each at an event of the dispatch. */
  deferred: readonly Deferred<PlannedStep>[]
  facts: Facts
  warnings: readonly Problem[]
}

/**
 * `by`: its provider, where the service needs one; `requestSettings` are for it. `content`: what is made for this step alone;
 * a step that needs a document and has none takes that of the first. `price` in credits.
 */
export type PlannedStep = {
  service: ServiceName
  fields: JsonObject
  requestSettings: JsonObject
  price: number
  content?: TemplateContent
  by?: PlannedProvider
}

/** A template and the data for it. */
export type TemplateContent = { template: StoredTemplate, data: JsonObject }

export type PlannedProvider = { provider: InstalledProvider, chosenBy: ChosenBy, configuredBy: ConfiguredBy, sandbox: boolean }
