import { type Asked, carriedFields, countedLines, daysBetween, given, type Invoice, invoiceOf, joined, type JsonObject, type Limit, refused,
  Type } from '@dispatch/core/provider'

const decimals = { vendor: 'FreeAgent', quantity: 2, price: 2 }

export const limits: readonly Limit[] = [
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^[1-9]\\d{0,15}$', description: 'the number of a contact' }),
    because: 'It is the number of a contact.'
  }
]

export const carries = carriedFields({
  fields: ['number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'conditions', 'paymentTerms'],
  customer: ['name', 'email', 'address', 'addressLine2', 'addressLine3', 'city', 'region', 'postalCode', 'vatId']
})

/** An invoice in FreeAgent's words, without its contact. Refuses what FreeAgent would make otherwise. */
export function invoiceFields ({ invoicing, data }: Pick<Asked<'invoicing'>, 'invoicing' | 'data'>): JsonObject {
  const invoice = invoiceOf(data)
  const { number = '', date, currency = '', reference, orderReference, buyerReference, notes, conditions } = invoice
  const due = invoicing.dueDate ?? invoice.dueDate
  if (date === undefined || due === undefined) {
    throw refused('days_required', 'FreeAgent takes no invoice without its day and its days to pay.', '/data/dueDate')
  }
  return {
    reference: number,
    dated_on: date,
    due_on: due,
    payment_terms_in_days: daysBetween(date, due),
    currency,
    send_new_invoice_emails: false,
    ...given({
      payment_terms: invoicing.paymentTerms ?? invoice.paymentTerms,
      po_reference: joined(', ', invoicing.reference, reference, orderReference, buyerReference),
      comments: joined('\n', notes, conditions)
    }),
    invoice_items: countedLines(invoice, decimals).map(({ description, quantity, unitPrice, taxRate }) => ({
      item_type: 'Services',
      description,
      quantity: quantity.toFixed(),
      price: unitPrice.toFixed(),
      sales_tax_rate: taxRate.toFixed()
    }))
  }
}

export function contactFields ({ customer }: Invoice): JsonObject {
  const { name = '', email, address, addressLine2, addressLine3, city, region, postalCode, vatId } = customer
  return {
    organisation_name: name,
    ...given({
      email,
      address1: address,
      address2: addressLine2,
      address3: addressLine3,
      town: city,
      region,
      postcode: postalCode,
      sales_tax_registration_number: vatId
    })
  }
}
