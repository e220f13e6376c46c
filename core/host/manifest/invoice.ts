import { asciiMailbox, dayOf, type Json, type JsonObject, minorDigits, Money } from '@dispatch/common'
import type { Decimal } from 'decimal.js'
import { decimalAt } from '../../services/amounts.ts'
import { at, textOf } from '../../services/data.ts'
import { refused } from '../call/failure.ts'

const days = ['date', 'dueDate'] as const
const texts = ['number', 'currency', 'paymentTerms', 'notes', 'conditions', 'reference', 'orderReference', 'buyerReference',
  'language'] as const
const customerTexts = ['name', 'email', 'contact', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'region', 'country',
  'vatId'] as const

type Texts<Name extends string> = Partial<Record<Name, string>>

/**
 * One line. `description` begins with the line's name, where it has one beside its description. `taxRate` (percent) is the line's own
 * rate, else that of the whole invoice, else 0. `total` includes the line's allowances and charges. `isPlain`: the line has neither, and
 * its price is for one unit.
 */
export type InvoiceLine = { description: string, quantity: Decimal, unitPrice: Decimal, taxRate: Decimal, total: Decimal, isPlain: boolean }

/** A charge on the whole invoice, or an allowance, whose amount is negative. The rate follows the same rule as that of a line. */
export type Adjustment = { reason: string, amount: Decimal, taxRate: Decimal }

/**
 * The invoice fields of a request's data: texts unchanged, days as YYYY-MM-DD, amounts exact. `due` is the amount to pay: the total less
 * the prepaid amount, plus the rounding.
 */
export type Invoice = Texts<typeof texts[number] | typeof days[number]> & {
  customer: Texts<typeof customerTexts[number]>
  lines: InvoiceLine[]
  adjustments: Adjustment[]
  total: Decimal
  prepaid: Decimal
  rounding: Decimal
  due: Decimal
}

/**
 * Reads the invoice fields of a request's data. It refuses (`invalid_amount`, with the place) a missing quantity, unit price or total, an
 * amount that is not a number, and an allowance or charge without an amount.
 */
export function invoiceOf (data: JsonObject): Invoice {
  const taxRate = amountAt(data, '/taxRate', zero)
  const lines = placesIn(data, '/lines').map((place) => lineOf(data, place, taxRate))
  const net = lines.reduce((sum, { total }) => sum.add(total), zero)
  return {
    ...textsOf(data, texts),
    ...daysOf(data),
    customer: customerOf(data),
    lines,
    adjustments: adjustmentsOf(data, '', { base: net, taxRate }),
    ...sumsOf(data)
  }
}

const zero = new Money(0)

/** The amount due follows from the prepaid amount, or the prepaid amount from the amount due. */
function sumsOf (data: JsonObject): Pick<Invoice, 'total' | 'prepaid' | 'rounding' | 'due'> {
  const [total, rounding] = [amountAt(data, '/total'), amountAt(data, '/roundingAmount', zero)]
  const prepaid = amountAt(data, '/prepaidAmount', total.add(rounding).sub(amountAt(data, '/amountDue', total.add(rounding))))
  return { total, prepaid, rounding, due: amountAt(data, '/amountDue', total.sub(prepaid).add(rounding)) }
}

/** The JSON pointers of the items of a list. */
function placesIn (data: JsonObject, place: string): string[] {
  const list = at(data, place)
  return Array.isArray(list) ? list.map((_item: Json, index) => `${place}/${index}`) : []
}

/**
 * An amount in the minor units of its currency, such as cents. `digits` lists the currencies that a vendor counts differently from ISO
 * 4217.
 */
export function minorUnits (amount: Decimal, currency = '', digits: Readonly<Record<string, number>> = {}): Decimal {
  return amount.mul(new Money(10).pow(digits[currency] ?? minorDigits(currency)))
}

function lineOf (data: JsonObject, place: string, documentRate: Decimal): InvoiceLine {
  const [quantity, unitPrice] = [amountAt(data, `${place}/quantity`), amountAt(data, `${place}/unitPrice`)]
  const priceQuantity = amountAt(data, `${place}/priceQuantity`, one)
  const taxRate = amountAt(data, `${place}/taxRate`, documentRate)
  const gross = quantity.mul(unitPrice).div(priceQuantity.isZero() ? 1 : priceQuantity)
  const adjustments = adjustmentsOf(data, place, { base: gross, taxRate })
  return {
    description: [...new Set(['name', 'description'].flatMap((name) => textOf(data, `${place}/${name}`) ?? []))].join('\n'),
    quantity,
    unitPrice,
    taxRate,
    total: amountAt(data, `${place}/total`, adjustments.reduce((sum, { amount }) => sum.add(amount), gross)),
    isPlain: adjustments.length === 0 && priceQuantity.eq(one)
  }
}

const one = new Money(1)

/**
 * The charges and allowances of a line or of the whole. A percentage without an amount applies to its own `base`, else to the sum of the
 * line or of the lines.
 */
function adjustmentsOf (data: JsonObject, place: string, { base, taxRate }: { base: Decimal, taxRate: Decimal }): Adjustment[] {
  const digits = minorDigits(textOf(data, '/currency') ?? '')
  return ([['allowances', -1, 'Allowance'], ['charges', 1, 'Charge']] as const).flatMap(([list, sign, word]) =>
    placesIn(data, `${place}/${list}`).map((given) => {
      const percent = amountAt(data, `${given}/percent`, zero)
      const computed = amountAt(data, `${given}/base`, base).mul(percent).div(100).toDecimalPlaces(digits, Money.ROUND_HALF_UP)
      const amount = amountAt(data, `${given}/amount`, percent.isZero() ? undefined : computed)
      const reason = textOf(data, `${given}/reason`) ?? textOf(data, `${given}/reasonCode`) ?? word
      return {
        reason: percent.isZero() ? reason : `${reason} (${percent.toFixed()} %)`,
        amount: amount.mul(sign),
        taxRate: amountAt(data, `${given}/taxRate`, taxRate)
      }
    })
  )
}

/** The customer; the domain of the e-mail address is in ASCII. */
function customerOf (data: JsonObject): Invoice['customer'] {
  const { email, ...texts } = textsOf(at(data, '/customer') ?? null, customerTexts)
  return { ...texts, ...(email === undefined ? {} : { email: asciiMailbox(email) }) }
}

/** The days of the invoice, also where the data write them as times. */
function daysOf (data: JsonObject): Texts<typeof days[number]> {
  const given = days.flatMap((name) => {
    const day = dayOf(data[name])
    return day === undefined ? [] : [[name, day] as const]
  })
  return Object.fromEntries(given)
}

function textsOf<Name extends string> (data: Json, names: readonly Name[]): Texts<Name> {
  const given = names.flatMap((name) => {
    const text = textOf(data, `/${name}`)
    return text === undefined ? [] : [[name, text] as const]
  })
  return Object.fromEntries(given) as Texts<Name>
}

/** The number at a pointer; `missing` where there is no value. */
function amountAt (data: JsonObject, pointer: string, missing?: Decimal): Decimal {
  const amount = at(data, pointer) === undefined ? missing : decimalAt(data, pointer)
  if (amount === undefined) throw refused('invalid_amount', `There is no number at ${pointer} of the data.`, `/data${pointer}`)
  return amount
}
