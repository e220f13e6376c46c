import type { Json, JsonObject } from '@dispatch/common'
import type { Files } from '../files/files.ts'
import type { Http } from '../http/call.ts'
import type { Smtp } from '../smtp/message.ts'
import type { Log } from './log.ts'

/** Durable memory of one provider for one company. Writes are committed when the promise resolves. */
export type State = {
  get: (key: string) => Promise<Json | undefined>
  put: (key: string, value: Json) => Promise<void>
  /** Atomic. Resolves to the value that stands under the key afterwards: this one, or the one that was there before. */
  putIfAbsent: (key: string, value: Json) => Promise<Json>
}

/** Takes something back; the call's own `http` has ended by then. */
export type TakeBack = (http: Http) => Promise<unknown>

/** What a verb may use besides its request. */
export type Context<Settings, RequestSettings> = {
  /** The configuration, complete with its secrets; a copy of this call's own. */
  settings: Settings
  /** The client's `settings` of this one request. */
  requestSettings: RequestSettings
  /** Whether nothing real may happen. */
  sandbox: boolean
  /** Our reference of this step: the same in every attempt at it, different from every other step's. */
  reference: string
  /** What to send as the vendor's idempotency key. */
  idempotencyKey: string
  /** Secrets of the settings are replaced before a line is written. */
  log: Log
  state: State
  /** The vendor's API. What it throws is what came of the request: let it pass. */
  http: Http
  /** A mail server of the tenant's. */
  smtp: Smtp
  /** The operator's disk, below a folder of the company's own. */
  files: Files
  /**
   * The point of no return of a service that declares `checkpoint`: records the vendor's id of what was prepared, before the
   * call that makes it real. What was sent until here may be sent again. Rejects when it cannot be recorded.
   */
  checkpoint: (id: string) => Promise<void>
  /** The id that an earlier attempt at this step recorded. */
  checkpointed?: string
  /** Who is still to be sent to, the same message: an earlier `answer` left them in its `waiting`. Nobody else is sent to again. */
  rest?: { answer: JsonObject, recipients: string[] }
  /**
   * Says how to take back what the call has just made at the vendor, should the dispatch come to a refusal: the last made is taken back
   * first. What cannot be is logged, and changes nothing. An attempt that is made again under the same key goes on with what there is.
   */
  onRefusal: (takeBack: TakeBack) => void
  now: () => Date
  /** Pauses, in seconds. Rejects when the host gives the call up. */
  wait: (seconds: number) => Promise<void>
}
