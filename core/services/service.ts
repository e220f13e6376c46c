import type { TObject } from 'typebox'
import type { Problem } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'

/**
 * One dispatch service, declared as data: the routes, the request schema, the provider's vocabulary, the prices and the
 * documentation are built from it. `Fields` is what the request carries for it, `Capabilities` what a provider declares.
 */
export type Service<Name extends string, Fields, Capabilities> = {
  name: Name
  summary: string
  /** The service's own object in the request; every field is optional there, because it may be lifted. */
  fields: TObject
  /** Fields that are also accepted at the top level of the request. */
  lifted: readonly string[]
  /** Fields that must be given in one of the two places. */
  required: readonly string[]
  /** What a provider of this service declares about itself. */
  capabilities: TObject
  /** Credits for one accepted dispatch. */
  price: number
  /** Business rules, and what the chosen provider can do. Paths point into the request. */
  check (subject: Subject<Fields, Capabilities>): Findings
  /** What the dispatch can be found by later. */
  facts (fields: Fields, data: JsonObject): Facts
}

/** A service as the pipeline sees it: its schema has vouched for the fields, the manifest for the capabilities. */
export type AnyService = Service<string, JsonObject, JsonObject>

/** What the rules of a service look at. `today` is the date in UTC, YYYY-MM-DD. */
export type Subject<Fields, Capabilities> = {
  fields: Fields
  /** Where a field of the service stands in the client's request. */
  at: (field: string) => string
  data: JsonObject
  template: { documentType?: string, vocabulary?: string, currency?: string }
  provider: { code: string, capabilities: Capabilities } | undefined
  today: string
}

export type Findings = { problems: Problem[], warnings: Problem[] }

export type Facts = { documentType?: string, documentNumber?: string, recipient?: string }
