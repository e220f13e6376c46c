import { type Asked, carriedFields, type ExactLine, exactLines, type Invoice, invoiceOf, type JsonObject, type Limit, refused,
  Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const decimals = { quantity: 2, price: 2 }

export const limits: readonly Limit[] = [
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^\\w{1,64}$', description: 'the id of a client' }),
    because: 'It is the id of a client.'
  }
]

export const carries = carriedFields({
  fields: ['number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'conditions', 'paymentTerms'],
  customer: ['name', 'email', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'vatId']
})

/** An invoice in the words of Invoice Ninja, without its client. Refuses what it would make otherwise. */
export function invoiceFields (
  { invoicing, data }: Pick<Asked<'invoicing'>, 'invoicing' | 'data'>,
  { currency, taxName = '' }: Partial<Pick<Call['settings'], 'currency' | 'taxName'>>
): JsonObject {
  const invoice = invoiceOf(data)
  if (currency !== undefined && invoice.currency !== currency) {
    throw refused('other_currency', `The clients of this configuration have the currency ${currency}.`, '/data/currency')
  }
  if (!invoice.due.eq(invoice.total)) {
    throw refused('amount_due_differs', 'Invoice Ninja has no field for a prepaid amount or a rounding.', '/data/amountDue')
  }
  const { number = '', date, notes, conditions, reference, orderReference, buyerReference } = invoice
  const due = invoicing.dueDate ?? invoice.dueDate
  return {
    number,
    ...(date !== undefined && { date }),
    ...(due !== undefined && { due_date: due }),
    ...joined('po_number', '', [orderReference]),
    ...joined('public_notes', '\n', [...new Set([invoicing.reference, reference, buyerReference]), notes]),
    ...joined('terms', '\n', [invoicing.paymentTerms ?? invoice.paymentTerms, conditions]),
    uses_inclusive_taxes: false,
    line_items: exactLines(invoice, decimals).map((line) => itemOf(line, taxName))
  }
}

function itemOf ({ description, quantity, unitPrice, taxRate }: ExactLine, taxName: string): JsonObject {
  return {
    notes: description,
    quantity: quantity.toNumber(),
    cost: unitPrice.toNumber(),
    ...(!taxRate.isZero() && { tax_name1: taxName, tax_rate1: taxRate.toNumber() })
  }
}

export function clientFields ({ customer }: Invoice): JsonObject {
  const { name = '', email, address, addressLine2, addressLine3, city, postalCode, vatId } = customer
  return {
    name,
    ...(email !== undefined && { contacts: [{ email }] }),
    ...joined('address1', '', [address]),
    ...joined('address2', ', ', [addressLine2, addressLine3]),
    ...joined('city', '', [city]),
    ...joined('postal_code', '', [postalCode]),
    ...joined('vat_number', '', [vatId])
  }
}

function joined (field: string, separator: string, texts: readonly (string | undefined)[]): JsonObject {
  const given = texts.filter((text) => text !== undefined)
  return given.length === 0 ? {} : { [field]: given.join(separator) }
}
