import { type Asked, carriedFields, type ExactLine, exactLines, type Invoice, invoiceOf, type JsonObject, type Limit, refused, shortened,
  Type } from '@dispatch/core/provider'

/** The most characters of a number, a title and the references: https://docs.qonto.com/api-reference/business-api/invoicing. */
const longest = 40

const longestDescription = 1800
const decimals = { quantity: 2, price: 2 }

export const limits: readonly Limit[] = [
  { at: '/data/number', fits: Type.Unsafe({ maxLength: longest }) },
  { at: '/data/customer/country', fits: Type.Unsafe({ pattern: '^[A-Z]{2}$', description: 'two letters of ISO 3166' }) },
  {
    at: '/data/allowances',
    fits: Type.Unsafe({ maxItems: 0 }),
    because: 'No line of Qonto has a negative price: lower those of the lines.'
  },
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', description: 'the id of a client' }),
    because: 'It is the id of a client, a UUID.'
  }
]

export const carries = carriedFields({
  fields: ['number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'conditions', 'paymentTerms'],
  customer: ['name', 'email', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'country', 'vatId']
})

/** An invoice in Qonto's words, without its client and its status. Refuses what Qonto would make otherwise. */
export function invoiceFields (
  { invoicing, data }: Pick<Asked<'invoicing'>, 'invoicing' | 'data'>,
  { iban, label }: { iban: string | undefined, label: string | undefined }
): JsonObject {
  const invoice = invoiceOf(data)
  const { number = '', date, currency = '', notes, conditions } = invoice
  const due = invoicing.dueDate ?? invoice.dueDate
  if (date === undefined || due === undefined) {
    throw refused('days_required', 'Qonto takes no invoice without its day and its due date.', '/data/dueDate')
  }
  if (!invoice.due.eq(invoice.total)) {
    throw refused('amount_due_differs', 'Qonto has no field for a prepaid amount or a rounding.', '/data/amountDue')
  }
  const references = referencesOf(invoicing, invoice)
  const [terms, header] = [invoicing.paymentTerms ?? invoice.paymentTerms, [label, notes].filter((text) => text !== undefined).join('\n')]
  return {
    number,
    issue_date: date,
    due_date: due,
    currency,
    payment_methods: { iban: iban ?? '' },
    items: exactLines(invoice, decimals).map((line) => itemOf(line, currency)),
    ...(references !== '' && { purchase_order: references }),
    ...(header !== '' && { header }),
    ...(terms !== undefined && { terms_and_conditions: terms }),
    ...(conditions !== undefined && { footer: conditions })
  }
}

function referencesOf (
  { reference: own }: Asked<'invoicing'>['invoicing'],
  { reference, orderReference, buyerReference }: Invoice
): string {
  const text = [...new Set([own, reference, orderReference, buyerReference])].filter((one) => one !== undefined).join(', ')
  if (text.length <= longest) return text
  throw refused('references_too_long', `Qonto keeps ${longest} characters of all references, and these have ${text.length}.`,
    '/data/reference')
}

function itemOf ({ description, quantity, unitPrice, taxRate }: ExactLine, currency: string): JsonObject {
  const title = shortened(description.split('\n')[0] ?? '', longest)
  if (description.length > longestDescription) {
    throw refused('description_too_long', `Qonto keeps ${longestDescription} characters of a line.`, '/data/lines')
  }
  if (unitPrice.decimalPlaces() > decimals.price) {
    throw refused('too_fine', `Qonto keeps two decimals of an amount, and this is ${unitPrice.toFixed()}.`, '/data/lines')
  }
  return {
    title,
    ...(title !== description && { description }),
    quantity: quantity.toFixed(),
    unit_price: { value: unitPrice.toFixed(decimals.price), currency },
    vat_rate: taxRate.div(100).toFixed()
  }
}
