import { refused, Type, type Accepted, type HttpCall, type Static } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Amount = Type.Optional(Type.Integer())
const Metadata = Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]))

/** What is read of an invoice, a quote or a credit note; each has some of the fields. */
export const Paper = Type.Object({
  id: Type.String(), status: Type.String(), number: Text, metadata: Metadata,
  total: Amount, amount_total: Amount, amount_remaining: Amount,
  hosted_invoice_url: Text, invoice_pdf: Text, pdf: Text
})
export type Paper = Static<typeof Paper>
export const Papers = Type.Object({ data: Type.Array(Paper) })
export const Created = Type.Object({ id: Type.String() })

const paths: Readonly<Record<string, string>> = { in: 'invoices', qt: 'quotes', cn: 'credit_notes' }

/** Where a paper is, by the prefix of its id. */
export const pathOf = (id: string): string => `${paths[id.slice(0, 2)] ?? 'invoices'}/${encodeURIComponent(id)}`

/** A question to Stripe. The key says in which of its modes: with a test key nothing is real. Later versions have moved fields. */
export function ask ({ settings: { secretKey }, sandbox }: Call, path: string, query: NonNullable<HttpCall['query']> = {}, host = 'api'): [string, HttpCall] {
  if (secretKey.includes('_test_') === sandbox) return [`https://${host}.stripe.com/v1/${path}`, { bearer: secretKey, headers: { 'stripe-version': '2023-08-16' }, query }]
  throw refused('wrong_mode', sandbox ? 'A sandbox configuration needs a test key, and this is a live one: nothing was sent.' : 'What is made with a test key is not real: only a sandbox configuration may have one.')
}

/** A request that changes something, under a key of its own: `step` tells the requests of one dispatch apart. */
export function send (call: Call, step: string, path: string, form: NonNullable<HttpCall['form']> = {}): [string, HttpCall] {
  const [url, { headers, ...rest }] = ask(call, path)
  return [url, { ...rest, form, arrays: 'indexed', headers: { ...headers, 'idempotency-key': `${call.idempotencyKey}:${step}` } }]
}

export const read = (id: string, call: Call): Promise<Paper> => call.http.get(...ask(call, pathOf(id)), Paper)

export function answer ({ id, status, number, hosted_invoice_url: url }: Paper, { requestSettings: { includePaymentCollectionLink: pay } }: Call): Accepted {
  return { id, status, ...(typeof number === 'string' && { number }), ...(typeof url === 'string' && { url, ...(pay === true && { paymentUrl: url }) }) }
}
