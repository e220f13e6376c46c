import type { Static, TObject } from 'typebox'
import type { JsonObject } from '../contract/json.ts'
import type { ServiceName } from '../services/index.ts'
import type { Context } from './context.ts'
import type { ServiceContracts } from './contracts.ts'
import type { ProviderErrorWord } from './failure.ts'
import type { NoFields } from './fields.ts'

/** What a vendor answered to an accepted request: its own id and status, and whatever else the client may see. */
export type Accepted = JsonObject & { readonly id: string, readonly status: string }

/** What became of a request, asked afterwards by our reference. */
export type Found =
  | { found: 'accepted', response: Accepted }
  | { found: 'rejected', code: string, message: string }
  | { found: 'absent' }

/**
 * How a request is kept from being dispatched twice. `key`: the vendor honours an idempotency key for `ttl` seconds.
 * `lookup`: the vendor finds a request by our reference, at the latest `visibleAfter` seconds after it accepted it.
 */
export type Idempotency =
  | { kind: 'key', ttl: number }
  | { kind: 'lookup', visibleAfter: number }
  | { kind: 'none' }

/** Throw what `refused`, `unavailable` and `outcomeUnknown` make; anything else leaves the outcome unknown. */
export type Dispatch<Request, Call> = (request: Request, context: Call) => Promise<Accepted>

export type Lookup<Call> = (query: { reference: string }, context: Call) => Promise<Found>

type Lookups<Call> =
  | { idempotency: Extract<Idempotency, { kind: 'lookup' }>, lookup: Lookup<Call> }
  | { idempotency: Exclude<Idempotency, { kind: 'lookup' }>, lookup?: Lookup<Call> }

/** One service of a provider: what it can do there (the service's own vocabulary), and the verbs that do it. */
export type ServiceDefinition<Name extends ServiceName, Call> = ServiceContracts[Name]['capabilities'] & Lookups<Call> & {
  /** Seconds that the vendor may take to answer; 60 unless told. */
  timeLimit?: number
  dispatch: Dispatch<ServiceContracts[Name]['dispatch'], Call>
}

/** A provider: data first, verbs after. Everything but the verbs becomes its manifest. */
export type ProviderDefinition<Settings extends TObject, RequestSettings extends TObject> = {
  code: string
  name: string
  /** The page of the vendor's documentation that the code was written from. */
  docs?: string
  /** The configuration of a company or user. Titles and descriptions make it a form. */
  settings: Settings
  /** What a client may set for one request. */
  requestSettings?: RequestSettings
  /** The vendor's codes, as error words of the service. */
  errors?: { map: Readonly<Record<string, ProviderErrorWord>> }
  services: { [Name in ServiceName]?: ServiceDefinition<Name, Context<Static<Settings>, Static<RequestSettings>>> }
}

/** Types a provider: the settings' schemas become the types of what every verb is given. Changes nothing at run time. */
export function defineProvider<Settings extends TObject, RequestSettings extends TObject = typeof NoFields> (
  definition: ProviderDefinition<Settings, RequestSettings>
): ProviderDefinition<Settings, RequestSettings> {
  return definition
}
