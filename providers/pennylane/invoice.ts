import { type Asked, carriedFields, type ExactLine, exactLines, type Invoice, invoiceOf, type JsonObject, type Limit, refused,
  Type } from '@dispatch/core/provider'
import { createHash } from 'node:crypto'

/** https://pennylane.readme.io/reference/postcustomerinvoices */
const vatRates: Readonly<Record<string, string>> = { 20: 'FR_200', 10: 'FR_100', 8.5: 'FR_85', 5.5: 'FR_55', 2.1: 'FR_21', 0: 'exempt' }
const decimals = { quantity: 2, price: 6 }

/** The decimals of a total. */
const digits = 2

export const limits: readonly Limit[] = [
  { at: '/data/customer/country', fits: Type.Unsafe({ pattern: '^[A-Z]{2}$', description: 'two letters of ISO 3166' }) },
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^[1-9]\\d{0,15}$', description: 'the number of a customer' }),
    because: 'It is the number of a customer.'
  }
]

export const carries = carriedFields({
  fields: ['number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'conditions', 'paymentTerms'],
  customer: ['name', 'email', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'country', 'vatId']
})

/** An invoice in Pennylane's words, without its customer. Refuses what it would make otherwise. The number is its own: ours is a text. */
export function invoiceFields ({ invoicing, data }: Pick<Asked<'invoicing'>, 'invoicing' | 'data'>, label: string | undefined): JsonObject {
  const invoice = invoiceOf(data)
  const { number = '', date, currency = '', notes, conditions, reference, orderReference, buyerReference } = invoice
  const due = invoicing.dueDate ?? invoice.dueDate
  if (date === undefined || due === undefined) {
    throw refused('days_required', 'Pennylane takes no invoice without its day and its deadline.', '/data/dueDate')
  }
  if (!invoice.due.eq(invoice.total)) {
    throw refused('amount_due_differs', 'Pennylane has no field for a prepaid amount or a rounding.', '/data/amountDue')
  }
  if (invoice.total.decimalPlaces() > digits) {
    throw refused('too_fine', `Pennylane keeps two decimals of a total, and this is ${invoice.total.toFixed()}.`, '/data/total')
  }
  const terms = invoicing.paymentTerms ?? invoice.paymentTerms
  const references = [...new Set([number, invoicing.reference, reference, orderReference, buyerReference])].filter((one) =>
    one !== undefined
  )
  return {
    date,
    deadline: due,
    currency,
    invoice_lines: exactLines(invoice, decimals).map(lineOf),
    pdf_invoice_free_text: [references.join(', '), notes].filter((text) => text !== undefined).join('\n'),
    ...(label !== undefined && { pdf_invoice_subject: label }),
    ...(terms !== undefined && { pdf_description: terms }),
    ...(conditions !== undefined && { special_mention: conditions })
  }
}

function lineOf ({ description, quantity, unitPrice, taxRate }: ExactLine): JsonObject {
  const [label = '', ...rest] = description.split('\n')
  const vatRate = vatRates[taxRate.toFixed()]
  if (vatRate === undefined) {
    throw refused('unknown_tax_rate', `Pennylane has no rate of ${taxRate.toFixed()} % of France.`, '/data/taxRate')
  }
  return {
    label,
    ...(rest.length > 0 && { description: rest.join('\n') }),
    quantity: quantity.toNumber(),
    unit: 'piece',
    raw_currency_unit_price: unitPrice.toFixed(),
    vat_rate: vatRate
  }
}

/** A customer, whom Pennylane finds again by a reference of ours: a hash of the e-mail address, or else of the name. */
export function customerFields ({ customer }: Invoice): JsonObject & { external_reference: string } {
  const { name = '', email, vatId, address, addressLine2, addressLine3, postalCode = '', city = '', country = '' } = customer
  const street = [address, addressLine2, addressLine3].filter((line) => line !== undefined).join('\n')
  return {
    name,
    external_reference: createHash('sha256').update((email ?? name).trim().toLowerCase()).digest('hex').slice(0, 32),
    billing_address: { address: street, postal_code: postalCode, city, country_alpha2: country },
    ...(email !== undefined && { emails: [email] }),
    ...(vatId !== undefined && { vat_number: vatId })
  }
}
