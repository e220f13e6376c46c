import { refused, shortened, Type } from '@dispatch/core/provider'
import { ask, metadataOf, Paper, Papers, read, send } from './api.ts'
import { minor } from './data.ts'
import { planOf } from './plan.ts'
import type { Call, Request } from './settings.ts'
import { checkSum } from './totals.ts'

/** Finds the invoice to credit: by its id, by our number, or by Stripe's number. */
export async function creditedOf (reference: string, call: Call): Promise<string> {
  if (reference.startsWith('in_')) return reference
  const query = ['metadata["document_number"]', 'number'].map((field) => `${field}:${JSON.stringify(reference)}`).join(' OR ')
  const { data: [found, ...more] } = await call.http.get(...ask(call, 'invoices/search', { query: { query, limit: 2 } }), Papers)
  if (found !== undefined && more.length === 0) return found.id
  const count = more.length === 0 ? 'no invoice' : 'several invoices'
  throw refused('unknown_invoice', `Stripe finds ${count} ${reference}. Its id (in_…) finds it at once, its number after a minute.`)
}

const Preview = Type.Object({ total: Type.Integer() })

/** Characters. A preview is asked for in a URL, and its sums do not depend on texts. */
const previewed = 20

/**
 * Issues a credit note that Stripe adds up to the total of the data: there is no draft of one, but a preview. A paid amount is refunded
 * outside of Stripe: https://stripe.com/docs/api/credit_notes.
 */
export async function issueCredit (credited: string, request: Request, call: Call): Promise<Paper> {
  const plan = planOf(request, { ...call, now: call.now() })
  const { invoice, items, memo, issuedAt: effective_at } = plan
  const { amount_remaining: open = 0 } = await read(credited, call)
  const paid = minor(invoice.total, invoice).toNumber() - open
  const note = { invoice: credited, effective_at, out_of_band_amount: paid > 0 ? paid : undefined }
  const lines = items.map((item) => ({ type: 'custom_line_item', ...item }))
  const query = { ...note, lines: lines.map((line) => ({ ...line, description: shortened(line.description, previewed) })) }
  const { total } = await call.http.get(...ask(call, 'credit_notes/preview', { query, arrays: 'indexed' }), Preview)
  checkSum(total, plan)
  return await call.http.post(...send(call, 'credit', 'credit_notes', { ...note, lines, memo, metadata: metadataOf(invoice, call) }), Paper)
}
