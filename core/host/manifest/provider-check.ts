import type { JsonObject } from '@dispatch/common'
import type { ServiceName } from '../../contract/service-names.ts'
import type { ServiceContracts } from './contracts.ts'

/** What a verb `dispatch` will be asked, as far as it is known before anything is made. */
export type Asked<Name extends ServiceName> = Omit<ServiceContracts[Name]['dispatch'], 'document' | 'signatures' | 'inline' | 'attachments'>

/** What a check may look at besides: what is no secret in the configuration, and the client's `settings` of the request. */
export type Known<Settings, RequestSettings> = {
  settings: Partial<Settings>
  requestSettings: RequestSettings
  sandbox: boolean
  now: Date
}

/** Something that the vendor would refuse: `at` is a JSON pointer as in a {@link import('./limits.ts').Limit}. */
export type Objection = { at: string, code: string, message: string }

/**
 * Says what a provider would refuse of a request, where its limits cannot. It reaches nothing and answers at once. What it refuses by
 * throwing stands for the whole request.
 */
export type ProviderCheck<Name extends ServiceName, Settings, RequestSettings> = (
  asked: Asked<Name>,
  known: Known<Settings, RequestSettings>
) => readonly Objection[]

/** A check as the host sees it. */
export type AnyProviderCheck = (asked: JsonObject, known: Known<JsonObject, JsonObject>) => readonly Objection[]
export type ProviderChecks = Partial<Record<ServiceName, AnyProviderCheck>>
