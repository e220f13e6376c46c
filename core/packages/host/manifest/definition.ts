import type { DocumentHandle, JsonObject } from '@dispatch/common'
import type { DeliveryService, DeliveryStatus, RecipientsService } from '@dispatch/contract'
import type { ServiceContracts, ServiceName } from '@dispatch/services'
import type { ErrorReading } from '@dispatch/vendor-io/outcome'
import type { Static, TObject, TSchema } from 'typebox'
import type { NoFields } from '../settings/fields.ts'
import type { Webhooks } from '../webhook/webhook.ts'
import type { Carried } from './carries.ts'
import type { Connect } from './connect.ts'
import type { CheckContext, Context } from './context.ts'
import type { Ignored } from './ignores.ts'
import type { Limit } from './limits.ts'
import type { ProviderCheck } from './provider-check.ts'
import type { Suggestion } from './suggestion.ts'

/** A vendor's answer to an accepted request: its own id and status, and further fields that the client may see. */
export type Accepted = JsonObject & { readonly id: string, readonly status: string }

/** The outcome that a look-up finds. `draft`: the prepared draft still exists, and `dispatch` continues from its checkpoint. */
export type Found =
  | { found: 'accepted', response: Accepted }
  | { found: 'rejected', code: string, message: string }
  | { found: 'draft' }
  | { found: 'absent' }

/**
 * How a second dispatch of the same request is prevented. `key`: the vendor honours an idempotency key for `ttl` seconds. `lookup`: the
 * vendor finds a request by our reference, at most `visibleAfter` seconds after it accepted it.
 */
export type Idempotency =
  | { kind: 'key', ttl: number }
  | { kind: 'lookup', visibleAfter: number }
  | { kind: 'none' }

/**
 * How the vendor's test environment is reached. `flag`: with the same settings; those in `needs` must be set. `configuration`: with
 * settings of its own, in a configuration that is marked as a sandbox. `key` names the setting with the vendor's key, and the pattern of
 * test keys. A key for the other environment is refused.
 */
export type Sandbox<Setting extends string = string> =
  | { kind: 'flag', needs?: readonly Setting[] }
  | { kind: 'configuration', key?: { setting: Setting, test: string } }

/** May throw the errors of `refused`, `unavailable` and `outcomeUnknown`. Any other leaves the outcome unknown, if anything was sent. */
export type Dispatch<Request, Call> = (request: Request, context: Call) => Promise<Accepted>

/** Finds a dispatch by our reference, and by the checkpoint if there is one. It changes nothing at the vendor. */
export type Lookup<Call> = (query: { reference: string, checkpoint?: string }, context: Call) => Promise<Found>

type Lookups<Call> =
  | { idempotency: Extract<Idempotency, { kind: 'lookup' }>, lookup: Lookup<Call> }
  | { idempotency: Exclude<Idempotency, { kind: 'lookup' }>, lookup?: Lookup<Call> }

/**
 * The status of an accepted dispatch in the vendor's own word. `reason`: why, in the words of whoever declined or refused; the host keeps
 * 500 characters in one line. Further fields are stored in the timeline and in the step's response.
 */
export type Reported = JsonObject & { readonly status: string }

/** Fetches the status of an accepted dispatch by the vendor's id. It changes nothing at the vendor. */
export type Status<Call> = (query: { id: string }, context: Call) => Promise<Reported>

/**
 * Fetches the vendor's document of an accepted dispatch by the vendor's id: the signed document, or the vendor's own invoice. It changes
 * nothing at the vendor.
 */
export type FetchDocument<Call> = (query: { id: string }, context: Call) => Promise<DocumentHandle>

/**
 * Takes back an accepted dispatch, while the vendor permits it. It passes on the vendor's refusal as an error. It may be called again for
 * the same id, after an answer that was lost.
 */
export type Cancel<Call> = (query: { id: string }, context: Call) => Promise<Reported>

/**
 * What a company says of what was dispatched, that an invoice is paid above all, or of an e-invoice that it has received. `id`: the
 * vendor's, of the dispatch or of the received file; `status`: what is said, and `message`: the same as vendors exchange it (CDAR in
 * XML). The `reference` of the call is that of the message.
 */
export type Said = { id: string, code: string, status: JsonObject, message: string }

/**
 * Says it, and returns the vendor's answer to the message. It passes on the vendor's refusal as an error. After an answer that was lost,
 * the verb `lookup` finds the `reference`.
 */
export type Say<Call> = (said: Said, context: Call) => Promise<Accepted>

/** An electronic address of somebody (BT-49): the scheme of its id (EAS), such as `0225` of the French directory, and the id. */
export type ElectronicAddress = { readonly scheme: string, readonly id: string }

/**
 * An address at which somebody receives e-invoices, as a directory has it. `name`: whose it is; `status`: whether a platform receives there
 * now, later (`upcoming`), or no longer (`inactive`). Both are left out where the directory does not say.
 */
export type Recipient = ElectronicAddress & { readonly name?: string, readonly status?: 'active' | 'upcoming' | 'inactive' }

/**
 * Asks the vendor's directory at which addresses somebody receives e-invoices: of an address in it itself, or of whom a number names, such
 * as a SIREN. No recipients: the directory has been asked and knows nobody by that. What it is not about, the verb refuses (`refused`).
 */
export type FindRecipients<Call> = (requested: ElectronicAddress, context: Call) => Promise<{ recipients: readonly Recipient[] }>

/** An e-invoice that somebody has sent to the customer of the vendor. `id`: the vendor's, of its file; `at`: when it came (ISO 8601). */
export type Received = { readonly id: string, readonly at?: string }

/**
 * Lists e-invoices that others have sent, the oldest first: those behind `cursor`, a place that the verb has answered before; without one
 * those since a time (ISO 8601). `cursor` of the answer: where the next question goes on; `more`: there is more behind it already. It may
 * list one again, and must leave out none.
 */
export type ListReceived<Call> = (
  query: { since: string, cursor?: string },
  context: Call
) => Promise<{ received: readonly Received[], cursor: string, more: boolean }>

/** Fetches the file of a received e-invoice, as its sender has made it. It changes nothing at the vendor. */
export type FetchReceived<Call> = (query: { id: string }, context: Call) => Promise<DocumentHandle>

/** Both, or neither. */
type Receiving<Call> =
  | { received: ListReceived<Call>, receivedFile: FetchReceived<Call> }
  | { received?: never, receivedFile?: never }

/** What a vendor has registered: its id, and secrets by the names of the `Secret()` settings that keep them. */
export type Subscription = { readonly id: string, readonly secrets?: Readonly<Record<string, string>> }

/**
 * Registers the address of a configuration's events at the vendor, each time the configuration is saved. `secret` is new each time, for
 * vendors that are given one. `id`: what was registered the last time. It must not register twice: after an answer that was lost, or what
 * is there already, it finds or changes that.
 */
export type Subscribe<Call> = (query: { url: string, secret: string, id?: string }, context: Call) => Promise<Subscription>

/** Takes a registration back, before its configuration is removed. What is not there any more is a refusal of the vendor, as in a verb. */
export type Unsubscribe<Call> = (query: { url: string, id: string }, context: Call) => Promise<unknown>

/** Both, or neither; of a service that has a webhook. */
type Subscribed<Name extends ServiceName, Call> = Name extends DeliveryService
  ? { subscribe: Subscribe<Call>, unsubscribe: Unsubscribe<Call> } | { subscribe?: never, unsubscribe?: never }
  : unknown

/** When to poll the status of a step without events, in seconds since its acceptance: the first time, the interval, and the end. */
export type Poll = { after?: number, every?: number, until?: number }

/** A service whose provider reports delivery statuses. `statuses` maps the vendor's words of the verb `status` to delivery statuses. */
type Followed<Name extends ServiceName, Call> = Name extends DeliveryService
  ? { status: Status<Call>, statuses: Readonly<Record<string, DeliveryStatus<Name>>>, poll?: Poll } | {
    status?: never
    statuses?: never
    poll?: never
  }
  : unknown

/** The capabilities that a provider writes. The capability `document` is not among them: the verb `document` declares it. */
type Written<Capabilities> = Capabilities extends { document?: unknown } ? Omit<Capabilities, 'document'> : Capabilities

/** One service of a provider: its capabilities (in the service's own vocabulary) and its verbs. */
export type ServiceDefinition<Name extends ServiceName, Call> =
  & Written<ServiceContracts[Name]['capabilities']>
  & Lookups<Call>
  & Followed<Name, Call>
  & Subscribed<Name, Call>
  & Receiving<Call>
  & {
    /** Further limits of the vendor. A request outside of them is refused before anything is made. */
    limits?: readonly Limit[]
    /**
     * Of a vendor that makes the document itself: what it has of the data. What is given besides, and would stand on our own document, gets
     * a warning.
     */
    carries?: readonly Carried[]
    /** Fields of a request with which the vendor does nothing. Where one is given, a validation warns. */
    ignores?: readonly Ignored[]
    /** A check of what limits cannot express. */
    check?: Call extends Context<infer Settings, infer RequestSettings> ? ProviderCheck<Name, Settings, RequestSettings> : never
    /** The time limit for the vendor's answer in seconds, by default 60. */
    timeLimit?: number
    /**
     * A dispatch takes several requests. Those before `context.checkpoint(id)` may be repeated. Without this field, no request may be
     * repeated.
     */
    checkpoint?: true
    /** The vendor keeps drafts that were never issued, and nobody can delete them: a refused dispatch leaves its own. */
    draftsStay?: true
    /**
     * The provider lists temporarily refused recipients in `waiting` of its answer. When `context.rest` names recipients, it sends to them
     * only.
     */
    rest?: Name extends RecipientsService ? true : never
    /** Statuses of the vendor that prove that nothing was accepted, such as 503. 429 always proves it. */
    notProcessed?: readonly number[]
    dispatch: Dispatch<ServiceContracts[Name]['dispatch'], Call>
    document?: FetchDocument<Call>
    cancel?: Cancel<Call>
    say?: Say<Call>
    recipients?: FindRecipients<Call>
  }

/** A provider: data and verbs. Everything but the verbs becomes its manifest. */
export type ProviderDefinition<
  Settings extends TObject,
  RequestSettings extends TObject,
  Bodies extends Partial<Record<DeliveryService, TSchema>> = Partial<Record<DeliveryService, TSchema>>,
  Fact extends string = string
> = {
  code: string
  name: string
  /** The vendor's documentation from which the code was written. */
  docs?: string
  /** The configuration of a company or user. A form can be built from the titles and descriptions. */
  settings: Settings
  /** The settings that a client may give with one request. */
  requestSettings?: RequestSettings
  /**
   * The vendor's hosts: exact names, `*.example.com` for every name below, or `{account}.example.com` with a `Host()` setting of each
   * configuration. Hosts in other `Host()` settings are permitted too.
   */
  hosts?: readonly string[]
  /**
   * The vendor knows its customers by a person who permits this service to act for them. `oauth2: { grant: 'authorization_code' }` signs a
   * request in with it; its tokens stay in the host. Several ways are each for other settings (`when`); where none is, the configuration
   * signs in with its settings.
   */
  connect?: Connect<keyof Static<Settings> & string, Fact> | readonly Connect<keyof Static<Settings> & string, Fact>[]
  /** Absent where the vendor has no test environment. Tests then use the simulator. */
  sandbox?: Sandbox<keyof Static<Settings> & string>
  /** The API version that added the provider. Requests of older versions cannot name it. */
  since?: string
  /** What the operator must provide: `disk` is a folder that providers may write to. */
  needs?: readonly 'disk'[]
  /** How the vendor's errors are read, and which error word each of its codes becomes. */
  errors?: Partial<ErrorReading>
  /**
   * Asks the vendor whether the credentials work, by a request that needs them and changes nothing. It resolves if they do. The vendor's
   * refusal is an error, as in a verb.
   */
  check?: (call: CheckContext<Static<Settings>, Fact>) => Promise<unknown>
  /**
   * Asks the vendor which values a setting may have, such as its accounts or templates, for the form of the settings; of a list, which
   * items. The settings that have suggestions may be missing in `settings`.
   */
  suggestions?: { [Name in keyof Static<Settings>]?: (call: CheckContext<Static<Settings>, Fact>) => Promise<readonly Suggestion[]> }
  /**
   * Makes the settings of this version of those that an older one was configured with, at an upgrade. A secret is a text that stands for
   * it, and may move to another secret field. Without a result that fits, the older version goes on with the configuration.
   */
  migrateSettings?: (older: { version: string, settings: JsonObject }) => JsonObject | undefined
  services: { [Name in ServiceName]?: ServiceDefinition<Name, Context<Static<Settings>, Static<RequestSettings>, Fact>> }
  /** The events that the vendor sends. */
  webhooks?: Webhooks<keyof Static<Settings> & string, Bodies>
}

/** Gives a provider its types: the settings' schemas become the types of what each verb gets. It does nothing at run time. */
export function defineProvider<
  Settings extends TObject,
  RequestSettings extends TObject = typeof NoFields,
  Bodies extends Partial<Record<DeliveryService, TSchema>> = Partial<Record<DeliveryService, TSchema>>,
  Fact extends string = never
> (definition: ProviderDefinition<Settings, RequestSettings, Bodies, Fact>): ProviderDefinition<Settings, RequestSettings, Bodies, Fact> {
  return definition
}
