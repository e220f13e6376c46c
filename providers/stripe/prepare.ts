import { refused } from '@dispatch/core/provider'
import { ask, Created, Paper, Papers, read, send } from './api.ts'
import { joined, linesOf, seconds, text, totalOf } from './data.ts'
import type { Call, Request } from './settings.ts'

const [restOfDay, daysUntilDue] = [24 * 3600 - 1, 30]

/** A draft with its lines: https://stripe.com/docs/api/invoices. Resolves to its id. */
export async function prepareInvoice (request: Request, call: Call): Promise<string> {
  const { invoicing, data } = request
  const [items, currency] = [linesOf(request, call), text(data, '/currency')?.toLowerCase()]
  const due = seconds(invoicing.dueDate ?? text(data, '/dueDate'))
  const fields = [{ name: 'Number', value: text(data, '/number') ?? '' }, { name: 'VAT ID', value: text(data, '/customer/vatId') ?? '' }].filter(({ value }) => value !== '')
  if (fields.some(({ value }) => value.length > 30)) throw refused('number_too_long', 'Stripe prints numbers of at most 30 characters.')
  const customer = await customerOf(request, call)
  const { id } = await call.http.post(...send(call, 'invoice', 'invoices', {
    customer, currency, collection_method: 'send_invoice', auto_advance: false, pending_invoice_items_behavior: 'exclude',
    effective_at: seconds(text(data, '/date')),
    ...(due === undefined ? { days_until_due: daysUntilDue } : { due_date: due }),
    custom_fields: fields,
    description: joined(call.requestSettings.paymentCollectionLabel, text(data, '/notes')),
    footer: joined(invoicing.paymentTerms ?? text(data, '/paymentTerms'), text(data, '/conditions')),
    metadata: metadataOf(request, call)
  }), Created)
  for (const [index, item] of items.entries()) await call.http.post(...send(call, `line-${index}`, 'invoiceitems', { customer, invoice: id, currency, ...item }), Created)
  return checked(await read(id, call), request)
}

/** A draft: https://stripe.com/docs/api/quotes. Its lines are prices of one product, so the description says what they are. */
export async function prepareQuote (request: Request, call: Call): Promise<string> {
  const { invoicing, data } = request
  const [items, product] = [linesOf(request, call), call.settings.quoteProduct]
  if (product === undefined) throw refused('no_product', 'Stripe makes quotes of products: the settings need the product of quotes.')
  const description = items.map((item) => `${item.quantity} × ${item.description}`).join('\n')
  if (description.length > 500) throw refused('description_too_long', `Stripe prints 500 characters about a quote, and its lines have ${description.length}.`)
  return checked(await call.http.post(...send(call, 'quote', 'quotes', {
    customer: await customerOf(request, call),
    collection_method: 'send_invoice', invoice_settings: { days_until_due: daysUntilDue }, header: text(data, '/number'), description,
    expires_at: seconds(invoicing.dueDate ?? text(data, '/dueDate'), restOfDay),
    line_items: items.map(({ quantity, unit_amount_decimal, tax_rates }) => ({ price_data: { currency: text(data, '/currency')?.toLowerCase(), product, unit_amount_decimal }, quantity, tax_rates })),
    metadata: metadataOf(request, call)
  }), Paper), request)
}

/** A credit note has no draft. Resolves to the id of the invoice: named by the request's reference, or by its number, ours or Stripe's. */
export async function prepareCredit ({ invoicing: { reference = '' }, data }: Request, call: Call): Promise<string> {
  if (reference.startsWith('in_')) return reference
  const number = JSON.stringify(text(data, '/invoiceNumber') ?? reference)
  const { data: [found, ...more] } = await call.http.get(...ask(call, 'invoices/search', { query: `metadata["document_number"]:${number} OR number:${number}`, limit: 2 }), Papers)
  if (found === undefined || more.length > 0) throw refused('unknown_invoice', `Stripe finds ${found === undefined ? 'no invoice' : 'several invoices'} ${number}. Its id (in_…) as the reference always finds it; a new one has no number to be found by for a minute.`)
  return found.id
}

/** Issues a credit note. What has been paid of it goes back outside of Stripe: https://stripe.com/docs/api/credit_notes. */
export async function issueCredit (invoice: string, request: Request, call: Call): Promise<Paper> {
  const { amount_remaining: open = 0 } = await read(invoice, call)
  const [paid, { data }] = [totalOf(request) - open, request]
  return await call.http.post(...send(call, 'credit', 'credit_notes', {
    invoice,
    effective_at: seconds(text(data, '/date')),
    lines: linesOf(request, call).map((item) => ({ type: 'custom_line_item', ...item })),
    out_of_band_amount: paid > 0 ? paid : undefined,
    memo: joined(text(data, '/number'), text(data, '/reason'), text(data, '/notes')),
    metadata: metadataOf(request, call)
  }), Paper)
}

async function customerOf ({ invoicing: { customerId }, data }: Request, call: Call): Promise<string> {
  if (customerId !== undefined) return customerId
  const address = { line1: text(data, '/customer/address'), city: text(data, '/customer/city'), postal_code: text(data, '/customer/postalCode'), country: text(data, '/customer/country') }
  return (await call.http.post(...send(call, 'customer', 'customers', { name: text(data, '/customer/name'), email: text(data, '/customer/email'), address }), Created)).id
}

function metadataOf ({ data }: Request, { reference }: Call): Record<string, string> {
  return { dispatch_reference: reference, document_number: text(data, '/number') ?? '' }
}

/** The id of a draft that comes to what the data says. */
function checked ({ id, total, amount_total = total }: Paper, request: Request): string {
  const expected = totalOf(request)
  if (amount_total !== expected) throw refused('total_differs', `Stripe adds the lines and their taxes up to ${amount_total ?? 'nothing'} minor units, and the data says ${expected}: nothing was issued.`)
  return id
}
