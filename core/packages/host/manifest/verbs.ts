import type { JsonObject } from '@dispatch/common'
import type { DeliveryService } from '@dispatch/contract'
import type { ServiceName } from '@dispatch/services'
import type { Context } from './context.ts'

/** The functions of a provider for a service. */
export const verbNames = ['dispatch', 'lookup', 'status', 'document', 'cancel', 'say', 'recipients', 'received', 'receivedFile',
  'subscribe', 'unsubscribe'] as const
export type VerbName = typeof verbNames[number]

/** The caller of a verb: `account` names the configuration, `ended` fires when the call is over. */
export type Caller = { account: string, ended: AbortSignal }

/** A verb in the form that the host uses: it gets plain data, and may return or throw anything. */
export type Verb = (request: unknown, context: Context<JsonObject, JsonObject>, caller?: Caller) => unknown
export type Verbs = Partial<Record<ServiceName, Partial<Record<VerbName, Verb>>>>

/** The function `read` of a webhook in the form that the host uses. */
export type EventReader = (event: unknown, account?: string) => unknown
export type EventReaders = Partial<Record<DeliveryService, EventReader>>

export function isVerb (value: unknown): value is Verb {
  return typeof value === 'function'
}
