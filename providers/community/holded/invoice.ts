import { type Asked, carriedFields, countedLines, daysBetween, type ExactLine, given, invoiceOf, joined, type JsonObject, type Limit,
  refused, Type } from '@dispatch/core/provider'

const decimals = { vendor: 'Holded', quantity: 2, price: 2 }

export const limits: readonly Limit[] = [
  { at: '/data/customer/country', fits: Type.Unsafe({ pattern: '^[A-Z]{2}$', description: 'two letters of ISO 3166' }) },
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^[0-9a-f]{24}$', description: 'the id of a contact' }),
    because: 'It is the id of a contact.'
  }
]

export const carries = carriedFields({
  fields: ['number', 'currency', 'date', 'dueDate', 'reference', 'orderReference', 'buyerReference', 'notes', 'conditions', 'paymentTerms'],
  customer: ['name', 'email', 'address', 'addressLine2', 'addressLine3', 'city', 'region', 'postalCode', 'country']
})

/** An invoice in Holded's words, approved at once. Refuses what Holded would make otherwise. */
export function invoiceFields ({ invoicing, data }: Pick<Asked<'invoicing'>, 'invoicing' | 'data'>): JsonObject {
  const invoice = invoiceOf(data)
  const { number = '', date, currency = '', customer, reference, orderReference, buyerReference, notes, conditions } = invoice
  const due = invoicing.dueDate ?? invoice.dueDate
  if (date === undefined) throw refused('date_required', 'Holded takes no invoice without its day.', '/data/date')
  const { name, email, address, addressLine2, addressLine3, city, region, postalCode, country } = customer
  return {
    invoiceNum: number,
    date: secondsOf(date),
    ...(due !== undefined && { dueDate: secondsOf(due) }),
    currency,
    approveDoc: true,
    applyContactDefaults: false,
    ...given(
      invoicing.customerId === undefined
        ? {
          contactName: name,
          contactEmail: email,
          contactAddress: joined(', ', address, addressLine2, addressLine3),
          contactCity: city,
          contactCp: postalCode,
          contactProvince: region,
          contactCountryCode: country
        }
        : { contactId: invoicing.customerId }
    ),
    ...given({
      desc: joined(', ', invoicing.reference, reference, orderReference, buyerReference),
      notes: joined('\n', invoicing.paymentTerms ?? invoice.paymentTerms, notes, conditions)
    }),
    items: countedLines(invoice, decimals).map(itemOf)
  }
}

/** Holded counts days in seconds since 1970. */
function secondsOf (day: string): number {
  return daysBetween('1970-01-01', day) * 86_400
}

function itemOf ({ description, quantity, unitPrice, taxRate }: ExactLine): JsonObject {
  if (!taxRate.isInteger()) {
    throw refused('unknown_tax_rate', `Holded takes whole percents of tax, and this is ${taxRate.toFixed()} %.`, '/data/taxRate')
  }
  const [name = '', ...rest] = description.split('\n')
  return {
    name,
    ...given({ desc: joined('\n', ...rest) }),
    units: quantity.toNumber(),
    subtotal: unitPrice.toNumber(),
    tax: taxRate.toNumber()
  }
}
