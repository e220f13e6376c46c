import { type Asked, carriedFields, countedLines, given, type Invoice, invoiceOf, joined, type JsonObject, type Limit, refused, taxCodeOf,
  Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const decimals = { vendor: 'Zoho Books', quantity: 2, price: 2 }

export const limits: readonly Limit[] = [
  { at: '/data/number', fits: Type.Unsafe({ maxLength: 100 }), because: 'Zoho Books keeps 100 characters of a number.' },
  { at: '/data/customer/name', fits: Type.Unsafe({ maxLength: 100 }), because: 'Zoho Books searches for 100 characters of a name.' },
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^[1-9]\\d{0,23}$', description: 'the number of a contact' }),
    because: 'It is the number of a contact.'
  }
]

export const carries = carriedFields({
  fields: ['number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'conditions', 'paymentTerms'],
  customer: ['name', 'email', 'address', 'addressLine2', 'addressLine3', 'city', 'region', 'postalCode', 'country']
})

/** An invoice in the words of Zoho Books, without its contact. Refuses what Zoho Books would make otherwise. */
export function invoiceFields (
  { invoicing, data }: Pick<Asked<'invoicing'>, 'invoicing' | 'data'>,
  { currency, itemId = '', taxCodes = [] }: Partial<Pick<Call['settings'], 'currency' | 'itemId' | 'taxCodes'>>
): JsonObject {
  const invoice = invoiceOf(data)
  if (currency !== undefined && invoice.currency !== currency) {
    throw refused('other_currency', `The customers of this configuration have the currency ${currency}.`, '/data/currency')
  }
  const { number = '', date, reference, orderReference, buyerReference, notes, conditions } = invoice
  return {
    invoice_number: number,
    is_inclusive_tax: false,
    ...given({
      date,
      due_date: invoicing.dueDate ?? invoice.dueDate,
      reference_number: joined(', ', invoicing.reference, reference, orderReference, buyerReference),
      notes,
      terms: joined('\n', invoicing.paymentTerms ?? invoice.paymentTerms, conditions)
    }),
    line_items: countedLines(invoice, decimals).map((line) => ({
      item_id: itemId,
      description: line.description,
      quantity: line.quantity.toNumber(),
      rate: line.unitPrice.toNumber(),
      tax_id: taxCodeOf(taxCodes, line)
    }))
  }
}

export function contactFields ({ customer }: Invoice): JsonObject {
  const { name = '', email, address, addressLine2, addressLine3, city, region, postalCode, country } = customer
  const place = given({
    address,
    street2: joined(', ', addressLine2, addressLine3),
    city,
    state: region,
    zip: postalCode,
    country
  })
  return {
    contact_name: name,
    contact_type: 'customer',
    billing_address: place,
    ...(email !== undefined && { contact_persons: [{ email }] })
  }
}
