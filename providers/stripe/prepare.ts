import { refused } from '@dispatch/core/provider'
import { Created, creditOf, metadataOf, Paper, read, send, withdraw } from './api.ts'
import { creditedOf } from './credit.ts'
import { customerOf } from './customer.ts'
import { type Item, sentOf } from './data.ts'
import { type Plan, planOf } from './plan.ts'
import type { Call, Request } from './settings.ts'
import { checkSum, roundingOf, unitOf } from './totals.ts'

const daysUntilDue = 30

/**
 * Makes everything that a document needs before it is issued. If Stripe refuses a part, the rest is undone. Resolves to the id of the
 * draft.
 */
export async function prepare (request: Request, call: Call): Promise<string> {
  const plan = planOf(request, { ...call, now: call.now() })
  const { documentType } = request.invoicing
  if (documentType === 'CREDIT') return creditOf + await creditedOf(plan.reference ?? '', call)
  return await (documentType === 'QUOTE' ? prepareQuote : prepareInvoice)(request, plan, call)
}

/** A draft with its lines: https://stripe.com/docs/api/invoices. */
async function prepareInvoice ({ invoicing }: Request, plan: Plan, call: Call): Promise<string> {
  const { invoice, items, issuedAt, dueAt, memo: description, footer } = plan
  const currency = invoice.currency?.toLowerCase()
  const customer = invoicing.customerId ?? await customerOf(invoice, call)
  const { id } = await call.http.post(...send(call, 'invoice', 'invoices', {
    customer,
    currency,
    collection_method: 'send_invoice',
    auto_advance: false,
    pending_invoice_items_behavior: 'exclude',
    effective_at: issuedAt,
    ...(dueAt === undefined ? { days_until_due: daysUntilDue } : { due_date: dueAt }),
    custom_fields: printed({
      Number: invoice.number,
      'VAT ID': invoice.customer.vatId,
      Order: invoice.orderReference,
      Reference: invoice.reference
    }),
    description,
    footer,
    metadata: metadataOf(invoice, call)
  }), Created)
  call.onRefusal((http) => withdraw(id, call, http))
  const add = async (step: string, item: Plan['items'][number]): Promise<unknown> =>
    await call.http.post(...send(call, step, 'invoiceitems', { customer, invoice: id, currency, ...item }), Created)
  for (const [index, item] of items.entries()) await add(`line-${index}`, item)
  const made = await read(id, call)
  const [rounding] = sentOf(roundingNeeded(made.total, plan), call.settings)
  if (rounding !== undefined) await add('rounding', rounding)
  const { total, amount_due: due = total } = rounding === undefined ? made : await read(id, call)
  checkSum(total, plan)
  // A customer balance at Stripe that is not 0 would change the amount due.
  if (due === plan.due) return id
  throw refused('amount_due_differs',
    `Stripe would ask for ${due ?? 'no'} minor units, and ${plan.due} are due: the customer has a balance at Stripe. Nothing was issued.`)
}

/** Stripe's taxes have hundredths of a currency that has none: a last line rounds the sum. */
function roundingNeeded (made: number | undefined, { invoice, items, due }: Plan): Item[] {
  const unit = unitOf(invoice)
  const difference = due - (made ?? due)
  return unit === 1 || difference === 0 || Math.abs(difference) > unit * items.length ? [] : [roundingOf(difference, invoice)]
}

function printed (fields: Record<string, string | undefined>): { name: string, value: string }[] {
  return Object.entries(fields).flatMap(([name, value]) => value === undefined ? [] : [{ name, value }])
}

/** A draft: https://stripe.com/docs/api/quotes. Its lines are prices of one product, so the description explains them. */
async function prepareQuote ({ invoicing }: Request, plan: Plan, call: Call): Promise<string> {
  const { invoice, items, dueAt: expires_at, memo: description, footer, product } = plan
  const currency = invoice.currency?.toLowerCase()
  const { id, amount_total: total } = await call.http.post(...send(call, 'quote', 'quotes', {
    customer: invoicing.customerId ?? await customerOf(invoice, call),
    collection_method: 'send_invoice',
    invoice_settings: { days_until_due: daysUntilDue },
    header: invoice.number,
    description,
    footer,
    expires_at,
    line_items: items.map(({ quantity, unit_amount_decimal, tax_rates }) => ({
      price_data: { currency, product, unit_amount_decimal },
      quantity,
      tax_rates
    })),
    metadata: metadataOf(invoice, call)
  }), Paper)
  call.onRefusal((http) => withdraw(id, call, http))
  checkSum(total, plan)
  return id
}
