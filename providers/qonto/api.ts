import { type Accepted, type Found, type HttpCall, type Invoice as Wanted, Money, outcomeUnknown, refused, type Static, type Suggestion,
  Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
/** An answer with errors in it has made nothing. */
export const Invoice = Type.Object({
  errors: Type.Optional(Type.Null()),
  client_invoice: Type.Object({
    id: Type.String({ pattern: '[^0-]' }),
    status: Type.String({ minLength: 1 }),
    number: Text,
    total_amount: Type.Optional(Type.Object({ value: Type.String(), currency: Type.Optional(Type.String()) })),
    invoice_url: Text,
    attachment_id: Text
  })
})
type Invoice = Static<typeof Invoice>['client_invoice']
export const Attachment = Type.Object({ attachment: Type.Object({ url: Type.String({ minLength: 1 }) }) })

/** The sandbox has a host of its own, and wants a token beside the key. */
export function ask (
  { settings, sandbox }: Pick<Call, 'settings' | 'sandbox'>,
  path: string,
  more: HttpCall = {}
): [url: string, call: HttpCall] {
  const { login, secretKey, stagingToken } = settings
  const host = sandbox ? 'thirdparty-sandbox.staging.qonto.co' : 'thirdparty.qonto.com'
  const headers = sandbox && stagingToken !== undefined ? { 'x-qonto-staging-token': stagingToken } : {}
  return [
    `https://${host}/v2/${path}`,
    { apiKey: { header: 'Authorization', value: `${login}:${secretKey}` }, ...more, headers: { ...headers, ...more.headers } }
  ]
}

const Organization = Type.Object({
  organization: Type.Object({ bank_accounts: Type.Array(Type.Object({ iban: Type.String(), name: Text })) })
})

/** The accounts to which customers can pay. */
export async function accounts (call: Pick<Call, 'settings' | 'sandbox'> & { http: Pick<Call['http'], 'get'> }): Promise<Suggestion[]> {
  const { organization } = await call.http.get(...ask(call, 'organization'), Organization)
  return organization.bank_accounts.map(({ iban: value, name: title }) => ({ value, ...typeof title === 'string' && { title } }))
}

export const pathOf = (id: string, verb = ''): string => `client_invoices/${encodeURIComponent(id)}${verb}`

export const read = async (id: string, call: Call): Promise<Invoice> =>
  (await call.http.get(...ask(call, pathOf(id)), Invoice)).client_invoice

/** Refuses a draft that Qonto has made otherwise; what is issued otherwise needs a person. */
export function compare (made: Invoice, { total, number, currency }: Wanted): Invoice {
  const difference = made.total_amount !== undefined && !total.eq(new Money(made.total_amount.value))
    ? `Qonto's total is ${made.total_amount.value}, and that of the data is ${total.toFixed()}`
    : made.total_amount?.currency !== undefined && made.total_amount.currency !== currency
    ? `Qonto's client has the currency ${made.total_amount.currency}`
    : typeof made.number === 'string' && made.number !== number
    ? `Qonto calls the invoice ${made.number}, and the data says ${number ?? ''}`
    : undefined
  if (difference === undefined) return made
  throw made.status === 'draft' ? refused('made_otherwise', `${difference}.`) : outcomeUnknown(`${difference}: it is issued.`)
}

export async function find (draft: string, call: Call): Promise<Found> {
  const invoice = await read(draft, call)
  return invoice.status === 'draft' ? { found: 'draft' } : { found: 'accepted', response: answer(invoice, call) }
}

export function answer (
  { id, status, number, invoice_url: url }: Invoice,
  { requestSettings: { includePaymentCollectionLink: pay } }: Call
): Accepted {
  return {
    id,
    status,
    ...(typeof number === 'string' && { number }),
    ...(typeof url === 'string' && { url, ...(pay === true && { paymentUrl: url }) })
  }
}
