import { type Accepted, type Found, type Http, type HttpCall, type Invoice, type Static, Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Amount = Type.Optional(Type.Integer())
/** An answer with an error in it is none, whatever its status. */
const error = Type.Optional(Type.Null())
const Metadata = Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]))

/** The fields that are read of an invoice, a quote or a credit note; each has some of them. */
export const Paper = Type.Object({
  error,
  id: Type.String({ minLength: 1 }),
  status: Type.String(),
  number: Text,
  metadata: Metadata,
  total: Amount,
  amount_total: Amount,
  amount_due: Amount,
  amount_remaining: Amount,
  hosted_invoice_url: Text,
  invoice_pdf: Text,
  pdf: Text
})
export type Paper = Static<typeof Paper>
export const Papers = Type.Object({ data: Type.Array(Paper) })
export const Created = Type.Object({ error, id: Type.String({ minLength: 1 }) })

const Name = Type.String({ minLength: 1, maxLength: 200 })
export const Event = Type.Object({ id: Name, type: Name, data: Type.Object({ object: Type.Object({ id: Name }) }) })

const paths: Readonly<Record<string, string>> = { in: 'invoices', qt: 'quotes', cn: 'credit_notes' }

/** The prefix of an invoice's id where its credit note is meant: Stripe has no draft of a credit note. */
export const creditOf = 'credit:'

/** The id of the invoice that is credited; undefined for a draft. */
export const creditedBy = (prepared: string): string | undefined =>
  prepared.startsWith(creditOf) ? prepared.slice(creditOf.length) : undefined

/** The URL path of a document, by the prefix of its id. */
export const pathOf = (id: string): string => `${paths[id.slice(0, 2)] ?? 'invoices'}/${encodeURIComponent(id)}`

/** A request to Stripe. Later API versions than this one have moved fields. */
export function ask (call: Pick<Call, 'settings'>, path: string, more: HttpCall = {}, host = 'api'): [string, HttpCall] {
  const { secretKey: bearer } = call.settings
  return [`https://${host}.stripe.com/v1/${path}`, { bearer, ...more, headers: { 'stripe-version': '2023-08-16', ...more.headers } }]
}

/** A request that changes something, with its own key: `step` distinguishes the requests of one dispatch. */
export function send (call: Call, step: string, path: string, form: NonNullable<HttpCall['form']> = {}): [string, HttpCall] {
  return ask(call, path, { form, arrays: 'indexed', headers: { 'idempotency-key': `${call.idempotencyKey}:${step}` } })
}

export const read = (id: string, call: Call): Promise<Paper> => call.http.get(...ask(call, pathOf(id)), Paper)

/** Takes back a draft. The draft of an invoice is deleted. A quote cannot be deleted, and is cancelled. */
export function withdraw (draft: string, call: Call, http: Http): Promise<unknown> {
  return draft.startsWith('qt_')
    ? http.post(...send(call, 'cancel', `${pathOf(draft)}/cancel`), Created)
    : http.delete(...ask(call, pathOf(draft)), Created)
}

/** The state of a prepared document: of a draft, or of the credit note of an invoice. */
export async function find (prepared: string, call: Call): Promise<Found> {
  const invoice = creditedBy(prepared)
  const notes = async () => (await call.http.get(...ask(call, 'credit_notes', { query: { invoice, limit: 100 } }), Papers)).data
  const papers = invoice === undefined ? [await read(prepared, call)] : await notes()
  const paper = papers.find(({ metadata }) => metadata?.['dispatch_reference'] === call.reference)
  if (paper === undefined) return { found: 'absent' }
  return paper.status === 'draft' ? { found: 'draft' } : { found: 'accepted', response: answer(paper, call) }
}

export function answer (
  { id, status, number, hosted_invoice_url: url }: Paper,
  { requestSettings: { includePaymentCollectionLink: pay } }: Call
): Accepted {
  return {
    id,
    status,
    ...(typeof number === 'string' && { number }),
    ...(typeof url === 'string' && { url, ...(pay === true && { paymentUrl: url }) })
  }
}

export function metadataOf ({ number = '' }: Invoice, { reference }: Call): Record<string, string> {
  return { dispatch_reference: reference, document_number: number }
}
