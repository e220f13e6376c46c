import type { JsonObject } from '@dispatch/common'
import type { DeliveryService } from '@dispatch/contract'
import type { VerbName } from '@dispatch/host'
import type { Digest, DocumentHandle, HttpCall, Keeping, Known, SmtpMessage, SmtpReceipt, SmtpTransport } from '@dispatch/host/provider'
import type { ServiceName } from '@dispatch/services'
import type { Walls } from './walls.ts'

/** What a call of a verb takes along; the rest of its context is asked of the host. `now` in milliseconds since 1970. */
export type CallData = {
  settings: JsonObject
  requestSettings: JsonObject
  facts: Readonly<Record<string, string>>
  sandbox: boolean
  reference: string
  idempotencyKey: string
  repeated?: true
  checkpointed?: string
  rest?: { answer: JsonObject, recipients: string[] }
  webhookUrl?: string
  now: number
}

/** Stands for a function in what is told of a definition. */
export const functionMark = 'dispatch:function'

/** What came back of a function of the adapter: nothing, plain JSON, or what is none. */
export type Given = { value?: unknown, unplain?: true }

/** What the host asks of the process of an adapter. `call` is the host's number of a verb's call. */
export type InsideCalls = {
  load: (args: { entry: string }) => object
  /** The definition in JSON, each function a mark. */
  describe: (args: object) => { definition: string }
  verb: (args: { call: number, service: ServiceName, verb: VerbName, request: unknown, context: CallData }) => Given
  /** The check of the credentials. */
  credentials: (args: { call: number, context: CallData }) => Given
  /** The values that a setting may have. */
  suggest: (args: { call: number, setting: string, context: CallData }) => Given
  /** Takes back what the call `made` has made; `call` is the number of this one. */
  takeBack: (args: { call: number, made: number, id: number }) => Given
  check:
    (args: { service: ServiceName, requested: JsonObject, known: Omit<Known<JsonObject, JsonObject>, 'now'> & { now: number } }) => Given
  read: (args: { service: DeliveryService, event: unknown }) => Given
  /** Its settings, made of those of an older version. */
  migrate: (args: { version: string, settings: JsonObject }) => Given
  /** Whether a reply fits the schema that its request named: an empty list of problems. */
  fit: (args: { call: number, request: number, reply: unknown }) => { problems: readonly { path: string, message: string }[] }
  ping: (args: object) => object
  /** What it found of its walls before it loaded anything. */
  walls: (args: object) => Walls
}

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export const stateWords = ['get', 'put', 'putIfAbsent', 'delete'] as const
export const levels = ['debug', 'info', 'warn', 'error'] as const

/** What the process of an adapter asks of the host. Every one is checked there before it counts. */
export type OutsideCalls = {
  request: (args: { call: number, request: number, method: typeof methods[number], url: string, fields: HttpCall }) => null
  download: (args: { call: number, url: string, fields: HttpCall & { filename: string } }) => DocumentHandle
  send: (args: { call: number, message: SmtpMessage, transport: SmtpTransport }) => SmtpReceipt
  verify: (args: { call: number, transport: SmtpTransport }) => null
  compose: (args: { call: number, message: SmtpMessage }) => DocumentHandle
  digest: (args: { call: number, document: DocumentHandle, how: Digest }) => { digest: string }
  bytes: (args: { call: number, document: DocumentHandle, from: number, to: number }) => { base64: string }
  keep: (args: { call: number, base64: string, filename: string, contentType: string }) => DocumentHandle
  put: (args: { call: number, path: string, document: DocumentHandle }) => null
  state: (args: { call: number, word: typeof stateWords[number], key: string, value?: unknown, how?: Keeping }) => { value?: unknown }
  checkpoint: (args: { call: number, id: string }) => null
  wait: (args: { call: number, seconds: number }) => null
}

/** What it tells. `call` is 0 outside of any call. */
export type OutsideNotes = {
  onRefusal: { call: number, id: number }
  log: { call: number, level: typeof levels[number], facts: object, message: string }
}
