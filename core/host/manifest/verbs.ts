import type { JsonObject } from '@dispatch/common'
import type { EventService } from '../../contract/delivery.ts'
import type { ServiceName } from '../../contract/service-names.ts'
import type { Context } from '../call/context.ts'

/** The functions of a provider for a service. */
export const verbNames = ['dispatch', 'lookup', 'status', 'document', 'cancel'] as const
export type VerbName = typeof verbNames[number]

/** A verb in the form that the host uses: it gets plain data, and may return or throw anything. */
export type Verb = (request: unknown, context: Context<JsonObject, JsonObject>) => unknown
export type Verbs = Partial<Record<ServiceName, Partial<Record<VerbName, Verb>>>>

/** The function `read` of a webhook in the form that the host uses. */
export type EventReader = (event: unknown) => unknown
export type EventReaders = Partial<Record<EventService, EventReader>>

export function isVerb (value: unknown): value is Verb {
  return typeof value === 'function'
}
