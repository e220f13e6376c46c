import { type Accepted, at, type DocumentHandle, type Json, type JsonObject } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

/** Where the state keeps what was sent, by our reference. */
const keyOf = (reference: string): string => `outbox:${reference}`

/** The id that is answered to the dispatch with a reference. */
export const idOf = (reference: string): string => `sim-${reference}`

export const referenceOf = (id: string): string => id.replace(/^sim-/, '')

/** Records what was sent and what was answered, for the look-up and for whoever wants to see it. */
export async function record (
  sent: JsonObject,
  response: Accepted,
  { reference, requestSettings, sandbox, state, now }: Call
): Promise<void> {
  await state.put(keyOf(reference), { at: now().toISOString(), reference, sandbox, ...sent, requestSettings, response })
}

/** The answer that was recorded for a reference, if it was accepted. */
export async function recorded (reference: string, { state }: Call): Promise<Accepted | undefined> {
  const response = at(await state.get(keyOf(reference)) ?? null, '/response')
  return isAccepted(response) ? response : undefined
}

/** The document that was sent under a reference. */
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
