import type { JsonObject } from '@dispatch/common'
import type { CallbackType } from '@dispatch/contract'
import type { OwnerQueries } from '@dispatch/database'
import { sealedEvent } from '@dispatch/tables'

/** An event that is told. `data`: the dispatch as a client reads it at this event; `sequence`: its number for who is told. */
export type NotifiedEvent = { type: CallbackType, data: JsonObject, now: Date, sequence: number }

/** What a receiver is sent, as it is stored: around the number of the event, which only the database may know. */
export type CallbackBody = { head: string, tail: string, of: (sequence: number) => string }

export async function callbackBody (
  queries: Pick<OwnerQueries, 'getExecutor'>,
  { companyId, type, data, now }: Omit<NotifiedEvent, 'sequence'> & { companyId: number }
): Promise<CallbackBody> {
  const plain = JSON.stringify({ type, timestamp: now.toISOString(), sequence: null, data })
  const text = await sealedEvent(queries, companyId, plain)
  const [head, tail] = text === plain ? split(text, '"sequence":null') : [`${text.slice(0, -1)},"sequence":`, '}']
  return { head, tail, of: (sequence) => `${head}${sequence}${tail}` }
}

/** A text around the first number that stands empty in it. */
function split (text: string, empty: string): [string, string] {
  const at = text.indexOf(empty)
  return [text.slice(0, at + empty.length - 'null'.length), text.slice(at + empty.length)]
}
