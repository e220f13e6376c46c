import { type Accepted, at, type DocumentHandle, type Json, type JsonObject } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

/** The key in the state of a sent dispatch, by our reference. */
const keyOf = (reference: string): string => `outbox:${reference}`

/** The id in the answer to the dispatch with a reference. */
export const idOf = (reference: string): string => `sim-${reference}`

export const referenceOf = (id: string): string => id.replace(/^sim-/, '')

/** Records the request and its answer, for the look-up and for people, unless its reference has one. Resolves to the recorded answer. */
export async function record (
  sent: JsonObject,
  response: Accepted,
  { reference, requestSettings, sandbox, state, now }: Call
): Promise<Accepted> {
  const entry = { at: now().toISOString(), reference, sandbox, ...sent, requestSettings, response }
  return accepted(await state.putIfAbsent(keyOf(reference), entry)) ?? response
}

/** The recorded answer for a reference, if the dispatch was accepted. */
export async function recorded (reference: string, { state }: Call): Promise<Accepted | undefined> {
  return accepted(await state.get(keyOf(reference)) ?? null)
}

function accepted (entry: Json): Accepted | undefined {
  const response = at(entry, '/response')
  return isAccepted(response) ? response : undefined
}

/** The document that was sent with a reference. */
export async function sentDocument (reference: string, { state }: Call): Promise<DocumentHandle> {
  const document = at(await state.get(keyOf(reference)) ?? null, '/document')
  if (!isDocument(document)) throw new TypeError(`The outbox has no document under ${reference}.`)
  return document
}

function isDocument (value: Json = null): value is DocumentHandle {
  return typeof at(value, '/id') === 'string' && typeof at(value, '/sha256') === 'string'
}

function isAccepted (value: Json = null): value is Accepted {
  return typeof at(value, '/id') === 'string' && typeof at(value, '/status') === 'string'
}
