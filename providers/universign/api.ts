import { type Accepted, type Context, type Found, type Http, type HttpCall, type Static, Type } from '@dispatch/core/provider'
import type { RequestSettings, Settings } from './settings.ts'

export type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>

export const Created = Type.Object({ id: Type.String({ minLength: 1 }) })
export const Transaction = Type.Object({
  id: Type.String({ minLength: 1 }),
  state: Type.String({ minLength: 1 }),
  // https://apps.universign.com/docs/guides/transactions/participants/set_inactivity_alert/
  stalled_reason: Type.Optional(Type.Union([Type.String(), Type.Null()]))
})
export type Transaction = Static<typeof Transaction>
export const WithDocuments = Type.Object({ state: Type.String(), documents: Type.Array(Created) })

/** A request to Universign. A key of the test environment works at its host only, and signatures there are not binding. */
export function ask (
  { settings: { apiKey }, sandbox }: Call,
  path: string,
  body: Pick<HttpCall, 'form' | 'multipart'> = {}
): [url: string, call: HttpCall] {
  return [`https://api${sandbox ? '.alpha' : ''}.universign.com/v1/${path}`, { bearer: apiKey, ...body }]
}

export const pathOf = (id: string): string => `transactions/${encodeURIComponent(id)}`

export const readTransaction = (id: string, call: Call): Promise<Transaction> => call.http.get(...ask(call, pathOf(id)), Transaction)

/** The state of a draft: a transaction that is no longer a draft was started. */
export async function find (draft: string, call: Call): Promise<Found> {
  const transaction = await readTransaction(draft, call)
  return transaction.state === 'draft' ? { found: 'draft' } : { found: 'accepted', response: answer(transaction) }
}

/** Cancels a draft. Nobody has been told of it: https://apps.universign.com/docs/webapp/getting_started/transaction_lifecycle/. */
export async function withdraw (draft: string, call: Call, http: Http): Promise<void> {
  await http.post(...ask(call, `${pathOf(draft)}/cancel`), Transaction)
}

export function answer ({ id, state }: Transaction): Accepted {
  return { id, status: state }
}
