import type { Json } from '../contract/json.ts'
import type { Log } from './log.ts'

/** Durable memory of one provider for one company. Writes are committed when the promise resolves. */
export type State = {
  get: (key: string) => Promise<Json | undefined>
  put: (key: string, value: Json) => Promise<void>
  /** Atomic. Resolves to the value that stands under the key afterwards: this one, or the one that was there before. */
  putIfAbsent: (key: string, value: Json) => Promise<Json>
}

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
  now: () => Date
  /** Pauses, in seconds. Rejects when the host gives the call up. */
  wait: (seconds: number) => Promise<void>
}
