import { type Found, type HttpCall, type Invoice as Wanted, Money, outcomeUnknown, refused, type Static,
  Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const none = Type.Optional(Type.Null())
/** An answer with an error in it has made nothing: the API answers `{field: [text]}` or `{detail}`. */
const said = { error: none, errors: none, detail: none, non_field_errors: none }
export const Created = Type.Object({ id: Type.Integer({ minimum: 1 }), ...said })
export const Validated = Type.Object(said)
export const Invoice = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  ...said,
  external_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  status: Type.String({ minLength: 1 }),
  invoice_number: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  total: Type.Optional(Type.Number())
})
export type Invoice = Static<typeof Invoice>

/** Django wants the slash at the end. */
export function ask ({ settings: { token } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://ipaidthat.io/inv/api/v3/${path}/`, { apiKey: { header: 'Authorization', value: `Token ${token}` }, ...more }]
}

export const pathOf = (id: string, verb = ''): string => `invoices/${encodeURIComponent(id)}${verb}`

export const read = (id: string, call: Call): Promise<Invoice> => call.http.get(...ask(call, pathOf(id)), Invoice)

const draft = ['draft', 'updating']

/** Refuses a draft with another total; what is issued over another one needs a person. */
export function compare (made: Invoice, { total }: Wanted): Invoice {
  if (made.total === undefined || total.eq(new Money(made.total))) return made
  const difference = `iPaidThat's total is ${made.total}, and that of the data is ${total.toFixed()}`
  throw draft.includes(made.status) ? refused('made_otherwise', `${difference}.`) : outcomeUnknown(`${difference}: it is issued.`)
}

export function answer ({ id, status, invoice_number: number }: Invoice) {
  return { id: String(id), status, ...(typeof number === 'string' && !number.startsWith('Auto') && { number }) }
}

export async function find (id: string, call: Call): Promise<Found> {
  const invoice = await read(id, call)
  return draft.includes(invoice.status) ? { found: 'draft' } : { found: 'accepted', response: answer(invoice) }
}

/** An invoice whose draft was not recorded: one that is still a draft was never issued. */
export async function findUnrecorded (call: Call): Promise<Found> {
  const found = await call.http.get(...ask(call, 'invoices', { query: { external_id: call.reference } }), Type.Array(Invoice))
  const invoice = found.find(({ external_id: own }) => own === call.reference)
  return invoice === undefined || draft.includes(invoice.status) ? { found: 'absent' } : { found: 'accepted', response: answer(invoice) }
}
