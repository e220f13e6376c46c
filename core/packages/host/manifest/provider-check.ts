import type { JsonObject } from '@dispatch/common'
import type { ServiceContracts, ServiceName } from '@dispatch/services'

/** The part of a dispatch request that is known before anything is made. */
export type Requested<Name extends ServiceName> = Omit<
  ServiceContracts[Name]['dispatch'],
  'document' | 'signatures' | 'inline' | 'attachments'
>

/**
 * What a check may read besides the request: the settings of the configuration without secrets, and the client's `settings` of the request.
 */
export type Known<Settings, RequestSettings> = {
  settings: Partial<Settings>
  requestSettings: RequestSettings
  sandbox: boolean
  now: Date
}

/** Something that the vendor would refuse: `at` is a JSON pointer as in a {@link import('./limits.ts').Limit}. */
export type Objection = { at: string, code: string, message: string }

/**
 * Returns the reasons for which a vendor would refuse a request and which limits cannot express. A check makes no requests and answers at
 * once. A refusal that it throws applies to the whole request.
 */
export type ProviderCheck<Name extends ServiceName, Settings, RequestSettings> = (
  requested: Requested<Name>,
  known: Known<Settings, RequestSettings>
) => readonly Objection[]

/** A check in the form that the host uses. `account` names the configuration. */
export type AnyProviderCheck = (
  requested: JsonObject,
  known: Known<JsonObject, JsonObject>,
  account?: string
) => readonly Objection[] | Promise<readonly Objection[]>
export type ProviderChecks = Partial<Record<ServiceName, AnyProviderCheck>>
