import { type Accepted, type Found, type JsonObject, outcomeUnknown } from '@dispatch/core/provider'
import { perform, type Word } from './magic.ts'
import { idOf, record, recorded } from './outbox.ts'
import type { Call } from './settings.ts'

/** A request, under the name of its service, with its other fields. */
export type Sent = JsonObject & { service: string }

/**
 * Accepts a request, unless its magic word says otherwise. It is recorded under our reference, and never sent twice. `answer` is visible to
 * the client.
 */
export async function send (
  sent: Sent,
  word: Word | undefined,
  call: Call,
  answer: (id: string) => JsonObject & { status: string } | Promise<JsonObject & { status: string }>
): Promise<Accepted> {
  // Without a magic word, the record itself tells whether there is one already.
  const before = word === undefined ? undefined : await recorded(call.reference, call)
  if (before !== undefined) return before
  await perform(word, call)
  const id = idOf(call.reference)
  const response = await record(sent, { id, ...await answer(id) }, call)
  if (word === 'uncertain') throw outcomeUnknown('The simulator accepted the request, and its answer was lost.')
  return response
}

/** The outcome of a request: every accepted one is in the outbox at once. */
export async function lookup ({ reference }: { reference: string }, call: Call): Promise<Found> {
  const response = await recorded(reference, call)
  return response === undefined ? { found: 'absent' } : { found: 'accepted', response }
}
