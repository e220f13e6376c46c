import { type Asked, carriedFields, type ExactLine, exactLines, type Invoice, invoiceOf, type JsonObject, type Limit, refused,
  Type } from '@dispatch/core/provider'

const atMost = (maxLength: number): Limit['fits'] => Type.Unsafe({ maxLength })

/** The most characters of a line's name, and of a field of one's own. */
const [longestName, longestField] = [64, 30]
const decimals = { quantity: 2, price: 2 }

/** Countries whose two letters mean the same there: its list is one of its own, in which IR is Ireland and IA Iran. */
const countries = 'FR BE CH LU MC DE IT ES PT NL GB AT DK SE FI NO PL CZ GR HU RO HR CA US DZ TN'.split(' ')

export const limits: readonly Limit[] = [
  { at: '/data/number', fits: atMost(longestField) },
  { at: '/data/currency', fits: Type.Literal('EUR'), because: 'iPaidThat has no field for a currency: its invoices are in euros.' },
  {
    at: '/invoicing/customerId',
    fits: Type.String({ pattern: '^[1-9]\\d{0,15}$', description: 'the number of a customer' }),
    because: 'It is the number of a customer.'
  },
  { at: '/data/customer/name', fits: atMost(255) },
  { at: '/data/customer/contact', fits: atMost(64) },
  { at: '/data/customer/vatId', fits: atMost(30) },
  { at: '/data/customer/postalCode', fits: atMost(16) },
  { at: '/data/customer/city', fits: atMost(128) },
  { at: '/data/customer/country', fits: Type.Enum(countries), because: 'iPaidThat knows countries by letters of its own.' }
]

export const carries = carriedFields({
  fields: ['number', 'date', 'dueDate'],
  customer: ['name', 'email', 'contact', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'country', 'vatId'],
  made: ['currency']
})

type Fields = { invoice: JsonObject, items: JsonObject[], customer: JsonObject }

/** What is made at iPaidThat, without the ids. Refuses what it would make otherwise. Our number is a field beside its own. */
export function fieldsOf ({ data }: Pick<Asked<'invoicing'>, 'data'>, own: { due: string | undefined, label: string | undefined }): Fields {
  const invoice = invoiceOf(data)
  const due = own.due ?? invoice.dueDate
  if (!invoice.due.eq(invoice.total)) {
    throw refused('amount_due_differs', 'iPaidThat has no field for a prepaid amount or a rounding.', '/data/amountDue')
  }
  const { number = '', date } = invoice
  return {
    invoice: {
      type: 'invoice',
      ...(date !== undefined && { issue_date: date }),
      ...(due !== undefined && { due_date: due }),
      c_field_name_1: 'Référence',
      c_field_value_1: number,
      ...(own.label !== undefined && { c_field_name_2: 'Objet', c_field_value_2: own.label })
    },
    items: exactLines(invoice, decimals).map(itemOf),
    customer: customerOf(invoice.customer)
  }
}

function itemOf ({ description, quantity, unitPrice, taxRate }: ExactLine, position: number): JsonObject {
  const [first = ''] = description.split('\n')
  // What is too long for a name stands below it.
  const name = first.length > longestName ? `Ligne ${position + 1}` : first
  return {
    name,
    ...(name !== description && { additional_info: description }),
    quantity: quantity.toFixed(),
    unit_price: unitPrice.toFixed(),
    tax_percent: taxRate.toFixed(),
    position
  }
}

function customerOf ({ name = '', ...customer }: Invoice['customer']): JsonObject {
  const { email, contact, vatId: vat, address, addressLine2, addressLine3, postalCode, city, country } = customer
  const street = [address, addressLine2, addressLine3].filter((line) => line !== undefined).join('\n')
  const written = { email, last_name: contact, vat, address: street === '' ? undefined : street, zip_code: postalCode, city, country }
  return {
    name,
    ...Object.fromEntries(Object.entries(written).flatMap(([field, text]) => text === undefined ? [] : [[field, text] as const]))
  }
}
