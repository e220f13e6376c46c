import { invoiceOf, refused, textOf, type Invoice } from '@dispatch/core/provider'
import { ask, Created, creditOf, metadataOf, Paper, Papers, read, send } from './api.ts'
import { joined, linesOf, seconds, totalOf } from './data.ts'
import type { Call, Request } from './settings.ts'

const [restOfDay, daysUntilDue] = [24 * 3600 - 1, 30]

/** Makes all that a document needs before it is issued. Resolves to the id of its draft. */
export async function prepare (request: Request, call: Call): Promise<string> {
  const { includePaymentCollectionLink: pay, paymentCollectionLabel: label } = call.requestSettings
  if (request.invoicing.documentType === 'INVOICE') return await prepareInvoice(request, call)
  if (pay === true || label !== undefined) throw refused('no_payment_page', 'Stripe has a page to pay on for invoices alone.')
  return await (request.invoicing.documentType === 'QUOTE' ? prepareQuote : prepareCredit)(request, call)
}

/** A draft with its lines: https://stripe.com/docs/api/invoices. */
async function prepareInvoice ({ invoicing, data }: Request, call: Call): Promise<string> {
  const invoice = invoiceOf(data)
  const [items, currency, due] = [linesOf(invoice, call), invoice.currency?.toLowerCase(), seconds(invoicing.dueDate ?? invoice.dueDate)]
  const custom_fields = printed({ Number: invoice.number, 'VAT ID': invoice.customer.vatId })
  const customer = invoicing.customerId ?? await newCustomer(invoice, call)
  const { id } = await call.http.post(...send(call, 'invoice', 'invoices', {
    customer, currency, collection_method: 'send_invoice', auto_advance: false, pending_invoice_items_behavior: 'exclude',
    effective_at: seconds(invoice.date),
    ...(due === undefined ? { days_until_due: daysUntilDue } : { due_date: due }),
    custom_fields,
    description: joined(call.requestSettings.paymentCollectionLabel, invoice.notes),
    footer: joined(invoicing.paymentTerms ?? invoice.paymentTerms, invoice.conditions),
    metadata: metadataOf(invoice, call)
  }), Created)
  for (const [index, item] of items.entries()) {
    await call.http.post(...send(call, `line-${index}`, 'invoiceitems', { customer, invoice: id, currency, ...item }), Created)
  }
  return checked(await read(id, call), invoice)
}

function printed (fields: Record<string, string | undefined>): { name: string, value: string }[] {
  return Object.entries(fields).flatMap(([name, value]) => value === undefined ? [] : [{ name, value }])
}

/** A draft: https://stripe.com/docs/api/quotes. Its lines are prices of one product, so the description says what they are. */
async function prepareQuote ({ invoicing, data }: Request, call: Call): Promise<string> {
  const invoice = invoiceOf(data)
  const [items, currency, product] = [linesOf(invoice, call), invoice.currency?.toLowerCase(), call.settings.quoteProduct]
  if (product === undefined) throw refused('no_product', 'Stripe makes quotes of products: the settings need the product of quotes.')
  const description = items.map((item) => `${item.quantity} × ${item.description}`).join('\n')
  return checked(await call.http.post(...send(call, 'quote', 'quotes', {
    customer: invoicing.customerId ?? await newCustomer(invoice, call),
    collection_method: 'send_invoice', invoice_settings: { days_until_due: daysUntilDue }, header: invoice.number, description,
    expires_at: seconds(invoicing.dueDate ?? invoice.dueDate, restOfDay),
    line_items: items.map(({ quantity, unit_amount_decimal, tax_rates }) => ({ price_data: { currency, product, unit_amount_decimal }, quantity, tax_rates })),
    metadata: metadataOf(invoice, call)
  }), Paper), invoice)
}

/** Finds the invoice to credit: named by the request's reference, or by its number, ours or Stripe's. */
async function prepareCredit ({ invoicing: { reference = '' }, data }: Request, call: Call): Promise<string> {
  if (reference.startsWith('in_')) return creditOf + reference
  const number = textOf(data, '/invoiceNumber') ?? reference
  if (number === '') throw refused('no_invoice', 'A credit note needs its invoice: give its id or its number as the reference, or "invoiceNumber" in the data.')
  const query = ['metadata["document_number"]', 'number'].map((field) => `${field}:${JSON.stringify(number)}`).join(' OR ')
  const { data: [found, ...more] } = await call.http.get(...ask(call, 'invoices/search', { query: { query, limit: 2 } }), Papers)
  if (found !== undefined && more.length === 0) return creditOf + found.id
  throw refused('unknown_invoice', `Stripe finds ${more.length === 0 ? 'no invoice' : 'several invoices'} ${number}. Its id (in_…) finds it at once, its number after a minute.`)
}

/** Issues a credit note. What has been paid of it goes back outside of Stripe: https://stripe.com/docs/api/credit_notes. */
export async function issueCredit (credited: string, { data }: Request, call: Call): Promise<Paper> {
  const invoice = invoiceOf(data)
  const { amount_remaining: open = 0 } = await read(credited, call)
  const paid = totalOf(invoice) - open
  return await call.http.post(...send(call, 'credit', 'credit_notes', {
    invoice: credited,
    effective_at: seconds(invoice.date),
    lines: linesOf(invoice, call).map((item) => ({ type: 'custom_line_item', ...item })),
    out_of_band_amount: paid > 0 ? paid : undefined,
    memo: joined(invoice.number, textOf(data, '/reason'), invoice.notes),
    metadata: metadataOf(invoice, call)
  }), Paper)
}

async function newCustomer ({ customer: { name, email, address: line1, city, postalCode: postal_code, country } }: Invoice, call: Call): Promise<string> {
  return (await call.http.post(...send(call, 'customer', 'customers', { name, email, address: { line1, city, postal_code, country } }), Created)).id
}

/** The id of a draft that comes to what the data says. */
function checked ({ id, total, amount_total = total }: Paper, invoice: Invoice): string {
  const expected = totalOf(invoice)
  if (amount_total === expected) return id
  throw refused('total_differs', `Stripe makes ${amount_total ?? 'no'} minor units of the lines and their taxes, and the data says ${expected}: nothing was issued.`)
}
