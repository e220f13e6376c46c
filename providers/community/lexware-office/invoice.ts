import { type Asked, carriedFields, countedLines, daysBetween, type ExactLine, given, type Invoice, invoiceOf, joined, type JsonObject,
  type Limit, refused, Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const decimals = { vendor: 'Lexware Office', quantity: 2, price: 2 }
const currency = 'EUR'

export const limits: readonly Limit[] = [
  { at: '/data/currency', fits: Type.Unsafe({ const: currency }), because: 'Lexware Office has invoices in euros alone.' },
  { at: '/data/customer/country', fits: Type.Unsafe({ pattern: '^[A-Z]{2}$', description: 'two letters of ISO 3166' }) },
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', description: 'the id of a contact' }),
    because: 'It is the id of a contact, a UUID.'
  }
]

export const carries = carriedFields({
  fields: ['number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'conditions', 'paymentTerms'],
  customer: ['name', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'country']
})

/** An invoice in Lexware's words. Refuses what it would make otherwise. The number is Lexware's own: ours stands in the introduction. */
export function invoiceFields (
  { invoicing, data }: Pick<Asked<'invoicing'>, 'invoicing' | 'data'>,
  { unitName = '', taxType = 'net' }: Partial<Omit<Call['settings'], 'apiKey'>>
): JsonObject {
  const invoice = invoiceOf(data)
  const { number, date, reference, orderReference, buyerReference, notes, conditions } = invoice
  if (date === undefined) throw refused('date_required', 'Lexware Office takes no invoice without its day.', '/data/date')
  if (invoicing.customerId === undefined && invoice.customer.country === undefined) {
    throw refused('country_required', 'Lexware Office takes no customer without a country.', '/data/customer/country')
  }
  const [due, terms] = [invoicing.dueDate ?? invoice.dueDate, invoicing.paymentTerms ?? invoice.paymentTerms]
  if (due === undefined && terms !== undefined) {
    throw refused('due_date_required', 'Lexware Office takes no payment terms without a due date.', '/data/dueDate')
  }
  return {
    voucherDate: `${date}T00:00:00.000+00:00`,
    address: invoicing.customerId === undefined ? addressOf(invoice) : { contactId: invoicing.customerId },
    lineItems: countedLines(invoice, decimals).map((line) => itemOf(line, unitName, taxType)),
    totalPrice: { currency: invoice.currency ?? currency },
    taxConditions: { taxType },
    shippingConditions: { shippingType: 'none' },
    ...(due !== undefined && { paymentConditions: { paymentTermLabel: terms ?? due, paymentTermDuration: daysBetween(date, due) } }),
    ...given({
      introduction: joined(', ', number, invoicing.reference, reference, orderReference, buyerReference),
      remark: joined('\n', notes, conditions)
    })
  }
}

function itemOf ({ description, quantity, unitPrice, taxRate }: ExactLine, unitName: string, taxType: 'net' | 'vatfree'): JsonObject {
  if (taxType === 'vatfree' && !taxRate.isZero()) {
    throw refused('unknown_tax_rate', 'The invoices of this configuration are free of tax.', '/data/taxRate')
  }
  const [name = '', ...rest] = description.split('\n')
  return {
    type: 'custom',
    name,
    ...given({ description: joined('\n', ...rest) }),
    quantity: quantity.toNumber(),
    unitName,
    unitPrice: { currency, netAmount: unitPrice.toNumber(), taxRatePercentage: taxRate.toNumber() }
  }
}

function addressOf ({ customer }: Invoice): JsonObject {
  const { name = '', address: street, addressLine2, addressLine3, city, postalCode: zip, country: countryCode } = customer
  return { name, ...given({ street, supplement: joined(', ', addressLine2, addressLine3), city, zip, countryCode }) }
}
