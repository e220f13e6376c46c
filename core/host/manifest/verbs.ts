import type { JsonObject } from '@dispatch/common'
import type { EventService } from '../../contract/delivery.ts'
import type { ServiceName } from '../../contract/service-names.ts'
import type { Context } from '../call/context.ts'

/** What a provider can be asked to do for a service. */
export const verbNames = ['dispatch', 'lookup', 'status', 'document', 'cancel'] as const
export type VerbName = typeof verbNames[number]

/** A verb as the host sees it: plain data in, and out whatever a foreign function returns or throws. */
export type Verb = (request: unknown, context: Context<JsonObject, JsonObject>) => unknown
export type Verbs = Partial<Record<ServiceName, Partial<Record<VerbName, Verb>>>>

/** `read` of a webhook as the host sees it. */
export type EventReader = (event: unknown) => unknown
export type EventReaders = Partial<Record<EventService, EventReader>>

export function isVerb (value: unknown): value is Verb {
  return typeof value === 'function'
}
