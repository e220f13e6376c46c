import type { Json, JsonObject, Log } from '@dispatch/common'
import type { Documents, Files, Http, Smtp } from '@dispatch/vendor-io'

/** How long a value counts, in seconds from now: then it is as if it had been deleted. Without it, always. */
export type Keeping = { ttl?: number }

/**
 * Durable storage of one provider for one company. A write is committed when its promise resolves. It rejects where the configuration of an
 * adapter keeps too much: then nothing was kept.
 */
export type State = {
  get: (key: string) => Promise<Json | undefined>
  put: (key: string, value: Json, how?: Keeping) => Promise<void>
  /** Atomic. Resolves to the value that is then stored under the key: the given one, or an earlier one, whose `ttl` stays. */
  putIfAbsent: (key: string, value: Json, how?: Keeping) => Promise<Json>
  delete: (key: string) => Promise<void>
}

/** A function that takes something back. It needs its own request functions, because the `http` of the call has already ended. */
export type TakeBack = (http: Http) => Promise<unknown>

/** What a verb may use besides its request. */
export type Context<Settings, RequestSettings, Fact extends string = string> = {
  /** The complete configuration with its secrets, as a copy for this call. */
  settings: Settings
  /** The client's `settings` of this request. */
  requestSettings: RequestSettings
  /** What the vendor has said of the account with which the configuration is connected: the `facts` of `connect`. */
  facts: Readonly<Record<Fact, string>>
  /** Whether the call must stay in the vendor's test environment, so that nothing real happens. */
  sandbox: boolean
  /** Our reference of this step: the same in each of its attempts, and different from that of every other step. */
  reference: string
  /** The value for the vendor's idempotency key. */
  idempotencyKey: string
  /**
   * What became of an earlier call under the same key is not known. Only then can a vendor's "this key was used before" mean that it has
   * accepted the request.
   */
  repeated?: true
  /**
   * The address of the events of this configuration, for vendors that are given it with each request. Absent where the provider has no
   * webhook for the service, or where this service has no address that a vendor can reach.
   */
  webhookUrl?: string
  /** A log that replaces the secrets of the settings, and what has signed in a request of the call, before it writes a line. */
  log: Log
  state: State
  /** The vendor's API. Its errors already carry the right outcome: a provider does not need to catch them. */
  http: Http
  /** The tenant's mail servers. */
  smtp: Smtp
  /** Messages, hashes and bytes of the documents of the call. */
  documents: Documents
  /** The operator's disk, below the company's own folder. */
  files: Files
  /**
   * The point of no return of a service that declares `checkpoint`. Records the vendor's id of the draft, before the request that makes it
   * real. Requests before this point may be repeated. Rejects when the id cannot be recorded.
   */
  checkpoint: (id: string) => Promise<void>
  /** The id that an earlier attempt of this step recorded. */
  checkpointed?: string
  /** The recipients that an earlier answer listed in `waiting`. The same message is sent again to them, and to nobody else. */
  rest?: { answer: JsonObject, recipients: string[] }
  /**
   * Registers a function that undoes what the call has just made at the vendor. When the dispatch is refused, these functions run in
   * reverse order. A failure of one is logged and changes nothing. A retry under the same key continues with what exists at the vendor.
   */
  onRefusal: (takeBack: TakeBack) => void
  now: () => Date
  /** Waits, in seconds. Rejects when the host aborts the call. */
  wait: (seconds: number) => Promise<void>
}

/** What a check of the credentials may use: it asks, and changes nothing. */
export type CheckContext<Settings, Fact extends string = string> =
  & Pick<Context<Settings, object, Fact>, 'settings' | 'facts' | 'sandbox' | 'reference' | 'log' | 'now' | 'wait'>
  & { http: Pick<Http, 'get'>, smtp: Pick<Smtp, 'verify'> }

/** The part of a context that a check gets. */
export function checkContextOf<Settings> (context: Context<Settings, object>): CheckContext<Settings> {
  const { settings, facts, sandbox, reference, log, now, wait, http: { get }, smtp: { verify } } = context
  return { settings, facts, sandbox, reference, log, now, wait, http: { get }, smtp: { verify } }
}
