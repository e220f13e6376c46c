import type { Decimal } from 'decimal.js'
import type { Json, JsonObject } from '../contract/json.ts'
import { decimalAt, minorDigits, Money } from '../services/amounts.ts'
import { at, textOf } from '../services/data.ts'
import { refused } from './failure.ts'

const texts = ['number', 'date', 'dueDate', 'currency', 'paymentTerms', 'notes', 'conditions'] as const
const customerTexts = ['name', 'email', 'address', 'city', 'postalCode', 'country', 'vatId'] as const

type Texts<Name extends string> = Partial<Record<Name, string>>

/** One line; its rate (percent) is that of the whole invoice where it has none of its own, and 0 where there is none. */
export type InvoiceLine = { description: string, quantity: Decimal, unitPrice: Decimal, taxRate: Decimal, total: Decimal }

/** The invoice vocabulary of a request's data: its texts as they are, its amounts exact. */
export type Invoice = Texts<typeof texts[number]> & { customer: Texts<typeof customerTexts[number]>, lines: InvoiceLine[], total: Decimal }

/**
 * Reads the invoice vocabulary of a request's data. A quantity, a unit price or the total that is missing, and an amount that is
 * no number, are refused (`invalid_amount`).
 */
export function invoiceOf (data: JsonObject): Invoice {
  const { lines = [] } = data
  const taxRate = amountAt(data, '/taxRate', new Money(0))
  return {
    ...textsOf(data, texts),
    customer: textsOf(at(data, '/customer') ?? null, customerTexts),
    lines: Array.isArray(lines) ? lines.map((_line: Json, index) => lineOf(data, `/lines/${index}`, taxRate)) : [],
    total: amountAt(data, '/total')
  }
}

/** An amount in the minor units of its currency, such as cents; `digits` are those of currencies that a vendor counts otherwise than ISO 4217. */
export function minorUnits (amount: Decimal, currency = '', digits: Readonly<Record<string, number>> = {}): Decimal {
  return amount.mul(new Money(10).pow(digits[currency] ?? minorDigits(currency)))
}

function lineOf (data: JsonObject, place: string, documentRate: Decimal): InvoiceLine {
  const [quantity, unitPrice] = [amountAt(data, `${place}/quantity`), amountAt(data, `${place}/unitPrice`)]
  return {
    description: textOf(data, `${place}/description`) ?? '',
    quantity,
    unitPrice,
    taxRate: amountAt(data, `${place}/taxRate`, documentRate),
    total: amountAt(data, `${place}/total`, quantity.mul(unitPrice))
  }
}

function textsOf<Name extends string> (data: Json, names: readonly Name[]): Texts<Name> {
  const given = names.flatMap((name) => {
    const text = textOf(data, `/${name}`)
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(given) as Texts<Name>
}

/** The number at a pointer; `missing` where nothing stands. */
function amountAt (data: JsonObject, pointer: string, missing?: Decimal): Decimal {
  const amount = at(data, pointer) === undefined ? missing : decimalAt(data, pointer)
  if (amount === undefined) throw refused('invalid_amount', `There is no number at ${pointer} of the data.`)
  return amount
}
