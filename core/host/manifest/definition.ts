import type { JsonObject } from '@dispatch/common'
import type { Static, TObject, TSchema } from 'typebox'
import type { DocumentHandle } from '../../contract/common.ts'
import type { DeliveryService, DeliveryStatus } from '../../contract/delivery.ts'
import type { ServiceName } from '../../contract/service-names.ts'
import type { Context } from '../call/context.ts'
import type { ErrorReading } from '../call/failure.ts'
import type { NoFields } from '../settings/fields.ts'
import type { Webhooks } from '../webhook/webhook.ts'
import type { ServiceContracts } from './contracts.ts'
import type { Limit } from './limits.ts'
import type { ProviderCheck } from './provider-check.ts'

/** What a vendor answered to an accepted request: its own id and status, and whatever else the client may see. */
export type Accepted = JsonObject & { readonly id: string, readonly status: string }

/** What became of a request, asked afterwards. `draft`: what was prepared is still there, and dispatch goes on from its checkpoint. */
export type Found =
  | { found: 'accepted', response: Accepted }
  | { found: 'rejected', code: string, message: string }
  | { found: 'draft' }
  | { found: 'absent' }

/**
 * How a request is kept from being dispatched twice. `key`: the vendor honours an idempotency key for `ttl` seconds.
 * `lookup`: the vendor finds a request by our reference, at the latest `visibleAfter` seconds after it accepted it.
 */
export type Idempotency =
  | { kind: 'key', ttl: number }
  | { kind: 'lookup', visibleAfter: number }
  | { kind: 'none' }

/**
 * How a test environment of the vendor is reached. `flag`: with the same settings, where it has those that `needs` names.
 * `configuration`: with settings of its own, in a configuration that is marked as a sandbox; `key` names the setting that
 * holds the vendor's key, and the pattern of those of its test environment: the wrong one is refused.
 */
export type Sandbox<Setting extends string = string> =
  | { kind: 'flag', needs?: readonly Setting[] }
  | { kind: 'configuration', key?: { setting: Setting, test: string } }

/** Throw what `refused`, `unavailable` and `outcomeUnknown` make; anything else leaves the outcome unknown. */
export type Dispatch<Request, Call> = (request: Request, context: Call) => Promise<Accepted>

/** Asks by our reference, and by what a step that works in several calls had reached. Read only. */
export type Lookup<Call> = (query: { reference: string, checkpoint?: string }, context: Call) => Promise<Found>

type Lookups<Call> =
  | { idempotency: Extract<Idempotency, { kind: 'lookup' }>, lookup: Lookup<Call> }
  | { idempotency: Exclude<Idempotency, { kind: 'lookup' }>, lookup?: Lookup<Call> }

/**
 * What the vendor says about a dispatch that it accepted, in its own word; its other fields stand in the timeline and in the step's
 * response.
 */
export type Reported = JsonObject & { readonly status: string }

/** Asks the vendor what became of what it accepted, by the id that it gave. Read only. */
export type Status<Call> = (query: { id: string }, context: Call) => Promise<Reported>

/** Fetches the vendor's document of what it accepted, by the id that it gave: the signed one, or its own of our data. Read only. */
export type FetchDocument<Call> = (query: { id: string }, context: Call) => Promise<DocumentHandle>

/** Takes back what the vendor accepted, as long as it can be; it throws what the vendor makes of it. */
export type Cancel<Call> = (query: { id: string }, context: Call) => Promise<Reported>

/** When a step whose events never came is asked after, in seconds since it was accepted: first, how often, how long. */
export type Poll = { after?: number, every?: number, until?: number }

/** A service whose provider tells what became of a dispatch. `statuses`: the vendor's words of the verb `status` as delivery statuses. */
type Followed<Name extends ServiceName, Call> = Name extends DeliveryService
  ? { status: Status<Call>, statuses: Readonly<Record<string, DeliveryStatus<Name>>>, poll?: Poll } | {
    status?: never
    statuses?: never
    poll?: never
  }
  : unknown

/** What a provider writes of a service's vocabulary: whose document it is, its verb `document` says. */
type Written<Capabilities> = Capabilities extends { document?: unknown } ? Omit<Capabilities, 'document'> : Capabilities

/** One service of a provider: what it can do there (the service's own vocabulary), and the verbs that do it. */
export type ServiceDefinition<Name extends ServiceName, Call> =
  & Written<ServiceContracts[Name]['capabilities']>
  & Lookups<Call>
  & Followed<Name, Call>
  & {
    /** What else the vendor takes of a request: whatever does not fit is refused before anything is made. */
    limits?: readonly Limit[]
    /** What no limit can say. */
    check?: Call extends Context<infer Settings, infer RequestSettings> ? ProviderCheck<Name, Settings, RequestSettings> : never
    /** Seconds that the vendor may take to answer; 60 unless told. */
    timeLimit?: number
    /** The vendor works in several calls: those before `context.checkpoint(id)` may be repeated. Without it, every call counts. */
    checkpoint?: true
    /** It tells who was put off, in `waiting` of its answer, and sends to those alone when `context.rest` names them. */
    rest?: Name extends 'email' ? true : never
    /** Statuses of the vendor that surely mean that nothing was accepted, such as 503. 429 always does. */
    notProcessed?: readonly number[]
    dispatch: Dispatch<ServiceContracts[Name]['dispatch'], Call>
    document?: FetchDocument<Call>
    cancel?: Cancel<Call>
  }

/** A provider: data first, verbs after. Everything but the verbs becomes its manifest. */
export type ProviderDefinition<
  Settings extends TObject,
  RequestSettings extends TObject,
  Esign extends TSchema = TSchema,
  Postal extends TSchema = TSchema
> = {
  code: string
  name: string
  /** The page of the vendor's documentation that the code was written from. */
  docs?: string
  /** The configuration of a company or user. Titles and descriptions make it a form. */
  settings: Settings
  /** What a client may set for one request. */
  requestSettings?: RequestSettings
  /** The vendor's hosts: exact names, or `*.example.com` for every name below. Hosts of `Host()` settings may be reached too. */
  hosts?: readonly string[]
  /** Absent where the vendor has none: tests go to the simulator then. */
  sandbox?: Sandbox<keyof Static<Settings> & string>
  /** The version of the API with which it came; requests of older ones cannot name it. */
  since?: string
  /** What the operator must have given the service: `disk`, a folder that providers may write to. */
  needs?: readonly 'disk'[]
  /** How the vendor's errors are read, and its codes as error words of the service. */
  errors?: Partial<ErrorReading>
  services: { [Name in ServiceName]?: ServiceDefinition<Name, Context<Static<Settings>, Static<RequestSettings>>> }
  /** What the vendor sends by itself about what it accepted. */
  webhooks?: Webhooks<keyof Static<Settings> & string, Esign, Postal>
}

/** Types a provider: the settings' schemas become the types of what every verb is given. Changes nothing at run time. */
export function defineProvider<
  Settings extends TObject,
  RequestSettings extends TObject = typeof NoFields,
  Esign extends TSchema = TSchema,
  Postal extends TSchema = TSchema
> (definition: ProviderDefinition<Settings, RequestSettings, Esign, Postal>): ProviderDefinition<Settings, RequestSettings, Esign, Postal> {
  return definition
}
