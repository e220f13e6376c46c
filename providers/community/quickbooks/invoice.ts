import { type Asked, carriedFields, countedLines, given, type Invoice, invoiceOf, joined, type JsonObject, type Limit, Money, taxCodeOf,
  Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const decimals = { vendor: 'QuickBooks', quantity: 2, price: 2 }

export const limits: readonly Limit[] = [
  { at: '/data/number', fits: Type.Unsafe({ maxLength: 21 }), because: 'QuickBooks keeps 21 characters of a number.' },
  {
    at: '/data/customer/email',
    when: { '/invoicing/customerId': false },
    fits: Type.Unsafe({ pattern: '^[^\'\\\\]*$', description: 'an address without a quote' }),
    because: 'QuickBooks is asked for the customer with this address, in a language where a quote ends it.'
  },
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^[1-9]\\d{0,15}$', description: 'the Id of a customer' }),
    because: 'It is the Id of a customer.'
  }
]

export const carries = carriedFields({
  fields: ['number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'conditions', 'paymentTerms'],
  customer: ['name', 'email', 'address', 'addressLine2', 'addressLine3', 'city', 'region', 'postalCode', 'country']
})

/** An invoice in the words of QuickBooks, without its customer. Refuses what QuickBooks would make otherwise. */
export function invoiceFields (
  { invoicing, data }: Pick<Asked<'invoicing'>, 'invoicing' | 'data'>,
  { itemId = '', taxCodes = [] }: Partial<Pick<Call['settings'], 'itemId' | 'taxCodes'>>
): JsonObject {
  const invoice = invoiceOf(data)
  const { number = '', date, currency = '', customer: { email }, reference, orderReference, buyerReference, notes, conditions } = invoice
  const references = joined(', ', invoicing.reference, reference, orderReference, buyerReference)
  const memo = joined('\n', references, invoicing.paymentTerms ?? invoice.paymentTerms, notes, conditions)
  return {
    DocNumber: number,
    CurrencyRef: { value: currency },
    GlobalTaxCalculation: 'TaxExcluded',
    ...given({ TxnDate: date, DueDate: invoicing.dueDate ?? invoice.dueDate }),
    ...(memo !== undefined && { CustomerMemo: { value: memo } }),
    ...(invoicing.customerId === undefined &&
      { BillAddr: addressOf(invoice), ...(email !== undefined && { BillEmail: { Address: email } }) }),
    Line: countedLines(invoice, decimals).map((line) => ({
      DetailType: 'SalesItemLineDetail',
      Amount: line.quantity.mul(line.unitPrice).toDecimalPlaces(2, Money.ROUND_HALF_UP).toNumber(),
      Description: line.description,
      SalesItemLineDetail: {
        ItemRef: { value: itemId },
        Qty: line.quantity.toNumber(),
        UnitPrice: line.unitPrice.toNumber(),
        TaxCodeRef: { value: taxCodeOf(taxCodes, line) }
      }
    }))
  }
}

/** A customer, whom QuickBooks knows by the name: the addresses stand in each invoice. */
export function addressOf ({ customer }: Invoice): JsonObject {
  const { name, address, addressLine2, addressLine3, city, region, postalCode, country } = customer
  return given({
    Line1: name,
    Line2: address,
    Line3: addressLine2,
    Line4: addressLine3,
    City: city,
    CountrySubDivisionCode: region,
    PostalCode: postalCode,
    Country: country
  })
}
