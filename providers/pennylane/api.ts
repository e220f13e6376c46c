import { type Found, type HttpCall, type Invoice as Wanted, Money, outcomeUnknown, refused, type Static,
  Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

/** An answer with an error in it has made nothing. */
const said = { error: Type.Optional(Type.Null()), message: Type.Optional(Type.Null()) }
const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
export const Customer = Type.Object({ id: Type.Integer({ minimum: 1 }), ...said })
export const Customers = Type.Object({ items: Type.Array(Customer) })
export const Invoice = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  ...said,
  status: Type.String({ minLength: 1 }),
  invoice_number: Text,
  currency_amount: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  public_file_url: Text
})
type Invoice = Static<typeof Invoice>

export function ask ({ settings: { token } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://app.pennylane.com/api/external/v2/${path}`, { bearer: token, ...more }]
}

export const pathOf = (id: string, verb = ''): string => `customer_invoices/${encodeURIComponent(id)}${verb}`

export const read = (id: string, call: Call): Promise<Invoice> => call.http.get(...ask(call, pathOf(id)), Invoice)

/** Refuses a draft with another total; what is issued over another one needs a person. */
export function compare (made: Invoice, { total }: Wanted): Invoice {
  if (made.currency_amount === undefined || total.eq(new Money(made.currency_amount))) return made
  const difference = `Pennylane's total is ${made.currency_amount}, and that of the data is ${total.toFixed()}`
  throw made.status === 'draft' ? refused('made_otherwise', `${difference}.`) : outcomeUnknown(`${difference}: it is issued.`)
}

export function answer ({ id, status, invoice_number: number }: Invoice) {
  return { id: String(id), status, ...(typeof number === 'string' && number !== '' && { number }) }
}

export async function find (id: string, call: Call): Promise<Found> {
  const invoice = await read(id, call)
  return invoice.status === 'draft' ? { found: 'draft' } : { found: 'accepted', response: answer(invoice) }
}
