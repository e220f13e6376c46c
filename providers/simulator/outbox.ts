import { at, type Accepted, type Json, type JsonObject } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

/** Where the state keeps what was sent, by our reference. */
const keyOf = (reference: string): string => `outbox:${reference}`

/** Records what was sent and what was answered, for the look-up and for whoever wants to see it. */
export async function record (sent: JsonObject, response: Accepted, { reference, requestSettings, sandbox, state, now }: Call): Promise<void> {
  await state.put(keyOf(reference), { at: now().toISOString(), reference, sandbox, ...sent, requestSettings, response })
}

/** The answer that was recorded for a reference, if it was accepted. */
export async function recorded (reference: string, { state }: Call): Promise<Accepted | undefined> {
  const response = at(await state.get(keyOf(reference)) ?? null, '/response')
  return isAccepted(response) ? response : undefined
}

function isAccepted (value: Json = null): value is Accepted {
  return typeof at(value, '/id') === 'string' && typeof at(value, '/status') === 'string'
}
