import { type Asked, carriedFields, countedLines, daysBetween, given, invoiceOf, joined, type JsonObject, type Limit, placeLine, refused,
  Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const decimals = { vendor: 'sevdesk', quantity: 2, price: 2 }

export const limits: readonly Limit[] = [
  { at: '/data/customer/country', fits: Type.Unsafe({ pattern: '^[A-Z]{2}$', description: 'two letters of ISO 3166' }) },
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^\\d{1,20}$', description: 'the id of a contact' }),
    because: 'It is the id of a contact.'
  }
]

export const carries = carriedFields({
  fields: ['number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'conditions', 'paymentTerms'],
  customer: ['name', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'country', 'vatId']
})

/** An invoice in sevdesk's words, a draft without its contact and country. Refuses what sevdesk would make otherwise. */
export function invoiceFields (
  { invoicing, data }: Pick<Asked<'invoicing'>, 'invoicing' | 'data'>,
  { userId = '', taxRule = '', taxText = '' }: Partial<Omit<Call['settings'], 'token'>>
): { invoice: JsonObject, invoicePosSave: JsonObject[] } {
  const wanted = invoiceOf(data)
  const { number = '', date, currency = '', customer, reference, orderReference, buyerReference, notes, conditions } = wanted
  const due = invoicing.dueDate ?? wanted.dueDate
  if (date === undefined || due === undefined) {
    throw refused('days_required', 'sevdesk takes no invoice without its day and its days to pay.', '/data/dueDate')
  }
  const { name, address, addressLine2, addressLine3 } = customer
  return {
    invoice: {
      objectName: 'Invoice',
      mapAll: true,
      invoiceType: 'RE',
      status: 100,
      invoiceNumber: number,
      invoiceDate: date.split('-').toReversed().join('.'),
      timeToPay: daysBetween(date, due),
      currency,
      showNet: true,
      discount: 0,
      taxRate: 0,
      taxText,
      taxRule: { id: taxRule, objectName: 'TaxRule' },
      contactPerson: { id: userId, objectName: 'SevUser' },
      ...given({
        address: invoicing.customerId === undefined
          ? joined('\n', name, address, addressLine2, addressLine3, placeLine(customer))
          : undefined,
        customerInternalNote: joined(', ', invoicing.reference, reference, orderReference, buyerReference),
        headText: notes,
        footText: joined('\n', invoicing.paymentTerms ?? wanted.paymentTerms, conditions)
      })
    },
    invoicePosSave: countedLines(wanted, decimals).map(({ description, quantity, unitPrice, taxRate }) => ({
      objectName: 'InvoicePos',
      mapAll: true,
      name: description,
      quantity: quantity.toNumber(),
      price: unitPrice.toNumber(),
      taxRate: taxRate.toNumber(),
      unity: { id: 1, objectName: 'Unity' }
    }))
  }
}
