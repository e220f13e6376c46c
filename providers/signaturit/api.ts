import { type Found, type HttpCall, type Static, Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const Text = Type.String({ minLength: 1 })
const Happened = Type.Object({ type: Type.String(), decline_reason: Type.Optional(Type.Union([Type.String(), Type.Null()])) })

/** One for each signer of the file. */
const SignersDocument = Type.Object({ id: Text, status: Text, events: Type.Optional(Type.Array(Happened)) })
export const Request = Type.Object({ id: Text, documents: Type.Array(SignersDocument, { minItems: 1 }) })
type Request = Static<typeof Request>

/** Of several signers the first of these counts; all must have completed. */
const order = ['declined', 'canceled', 'expired', 'error', 'in_queue', 'ready', 'signing', 'completed']

/** The status of a document of one signer, as that of the whole. */
export const statuses = {
  in_queue: 'started',
  ready: 'started',
  signing: 'viewed',
  completed: 'completed',
  declined: 'declined',
  expired: 'expired',
  canceled: 'cancelled'
} as const

export const wordOf = ({ documents }: Request): string => {
  const words = documents.map(({ status }) => status)
  return order.find((word) => words.includes(word)) ?? words[0] ?? 'in_queue'
}

export function reasonOf ({ documents }: Request): { reason?: string } {
  const reason = documents.flatMap(({ events = [] }) => events).map(({ decline_reason: why }) => why).find((why) => typeof why === 'string')
  return typeof reason === 'string' ? { reason } : {}
}

/** The sandbox has a host and tokens of its own; its signatures are not binding. */
export function ask (
  { settings: { token }, sandbox }: Pick<Call, 'settings' | 'sandbox'>,
  path: string,
  more: HttpCall = {}
): [url: string, call: HttpCall] {
  return [`https://api.${sandbox ? 'sandbox.' : ''}signaturit.com/v3/signatures${path}`, { bearer: token, ...more }]
}

export const pathOf = (id: string): string => `/${encodeURIComponent(id)}`

export const read = (id: string, call: Call): Promise<Request> => call.http.get(...ask(call, `${pathOf(id)}.json`), Request)

/** By the field that a dispatch has set: https://docs.signaturit.com/api/latest#signatures. */
export async function find (reference: string, call: Call): Promise<Found> {
  const [found] = await call.http.get(...ask(call, '.json', { query: { dispatch_reference: reference } }), Type.Array(Request))
  return found === undefined ? { found: 'absent' } : { found: 'accepted', response: { id: found.id, status: wordOf(found) } }
}
