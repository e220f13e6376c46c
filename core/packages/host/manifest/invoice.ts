import { asciiMailbox, at, dayOf, type Decimal, grossAmount, halfUnit, type Json, type JsonObject, minorDigits, Money, roundedTo, shareOf,
  textOf } from '@dispatch/common'
import { decimalAt } from '@dispatch/services'
import { refused } from '@dispatch/vendor-io/outcome'

const days = ['date', 'dueDate'] as const
const texts = ['number', 'currency', 'paymentTerms', 'notes', 'conditions', 'reference', 'orderReference', 'buyerReference',
  'language'] as const
const customerTexts = ['name', 'email', 'contact', 'address', 'addressLine2', 'addressLine3', 'city', 'postalCode', 'region', 'country',
  'vatId'] as const

type Texts<Name extends string> = Partial<Record<Name, string>>

/**
 * One line, without tax. `description` begins with the line's name, where it has one beside its description. `taxRate` (percent) is the
 * line's own rate, else that of the whole invoice, else 0. `total` includes the line's allowances and charges. `isPlain`: `total` is
 * `quantity` × `unitPrice`, rounded to the minor unit.
 */
export type InvoiceLine = { description: string, quantity: Decimal, unitPrice: Decimal, taxRate: Decimal, total: Decimal, isPlain: boolean }

/** A charge on the whole invoice, or an allowance, whose amount is negative. The rate follows the same rule as that of a line. */
export type Adjustment = { reason: string, amount: Decimal, taxRate: Decimal }

/**
 * The invoice fields of a request's data: texts unchanged, days as YYYY-MM-DD, amounts in the minor unit of the currency, quantities and
 * prices exact. `due` is the amount to pay: the total less the prepaid amount, plus the rounding.
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
  const reading = { data, digits: minorDigits(textOf(data, '/currency') ?? ''), isInclusive: data['pricesIncludeTax'] === true }
  const taxRate = numberAt(data, '/taxRate', zero)
  const lines = placesIn(data, '/lines').map((place) => lineOf(reading, place, taxRate))
  const whole = (): Decimal => lines.reduce((sum, { gross }) => sum.add(gross), zero)
  return {
    ...textsOf(data, texts),
    ...daysOf(data),
    customer: customerOf(data),
    lines: lines.map(({ line }) => line),
    adjustments: adjustmentsOf(reading, '', { base: whole, taxRate }).map(({ gross, ...adjustment }) => ({
      ...adjustment,
      amount: netOf(gross, adjustment.taxRate, reading)
    })),
    ...sumsOf(reading)
  }
}

/** `digits`: the decimals of amounts. `isInclusive`: the prices and totals of the lines, and what is added to them, are with tax. */
type Reading = { data: JsonObject, digits: number, isInclusive: boolean }

const zero = new Money(0)

/** The amount due follows from the prepaid amount, or the prepaid amount from the amount due. */
function sumsOf (reading: Reading): Pick<Invoice, 'total' | 'prepaid' | 'rounding' | 'due'> {
  const [total, rounding] = [amountAt(reading, '/total'), amountAt(reading, '/roundingAmount', zero)]
  const prepaid = amountAt(reading, '/prepaidAmount', total.add(rounding).sub(amountAt(reading, '/amountDue', total.add(rounding))))
  return { total, prepaid, rounding, due: amountAt(reading, '/amountDue', total.sub(prepaid).add(rounding)) }
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

/** The line without tax, and `gross`, its total as the data have it. */
function lineOf (reading: Reading, place: string, documentRate: Decimal): { line: InvoiceLine, gross: Decimal } {
  const { data, digits, isInclusive } = reading
  const [quantity, price] = [numberAt(data, `${place}/quantity`), numberAt(data, `${place}/unitPrice`)]
  const priceQuantity = numberAt(data, `${place}/priceQuantity`, one)
  const taxRate = numberAt(data, `${place}/taxRate`, documentRate)
  const goods = grossAmount({ quantity, price, priceQuantity })
  const adjustments = adjustmentsOf(reading, place, { base: () => goods, taxRate })
  const gross = amountAt(reading, `${place}/total`, adjustments.reduce((sum, { gross: amount }) => sum.add(amount), goods))
  const [unitPrice, total] = [isInclusive ? without(price, taxRate).toDecimalPlaces(maxDecimals) : price, netOf(gross, taxRate, reading)]
  const isPlain = adjustments.length === 0 && priceQuantity.eq(one) && quantity.mul(unitPrice).sub(total).abs().lte(halfUnit(digits))
  const description = [...new Set(['name', 'description'].flatMap((name) => textOf(data, `${place}/${name}`) ?? []))].join('\n')
  return { line: { description, quantity, unitPrice, taxRate, total, isPlain }, gross }
}

const one = new Money(1)
const hundred = new Money(100)

/** The most decimals of a price that vendors take. */
const maxDecimals = 12

/** The amount without the tax in it. */
function netOf (amount: Decimal, rate: Decimal, { digits, isInclusive }: Reading): Decimal {
  return isInclusive ? roundedTo(without(amount, rate), digits) : amount
}

function without (amount: Decimal, rate: Decimal): Decimal {
  return amount.mul(hundred).div(rate.add(hundred))
}

type Adjusted = Omit<Adjustment, 'amount'> & { gross: Decimal }

/**
 * The charges and allowances of a line or of the whole. A percentage without an amount applies to its own `base`, else to the sum of the
 * line or of the lines.
 */
function adjustmentsOf (reading: Reading, place: string, { base, taxRate }: { base: () => Decimal, taxRate: Decimal }): Adjusted[] {
  const { data, digits } = reading
  return ([['allowances', -1, 'Allowance'], ['charges', 1, 'Charge']] as const).flatMap(([list, sign, word]) =>
    placesIn(data, `${place}/${list}`).map((given) => {
      const percent = numberAt(data, `${given}/percent`, zero)
      const computed = percent.isZero() ? undefined : shareOf(numberAt(data, `${given}/base`, base()), percent, digits)
      const amount = amountAt(reading, `${given}/amount`, computed)
      const reason = textOf(data, `${given}/reason`) ?? textOf(data, `${given}/reasonCode`) ?? word
      return {
        reason: percent.isZero() ? reason : `${reason} (${percent.toFixed()} %)`,
        gross: amount.mul(sign),
        taxRate: numberAt(data, `${given}/taxRate`, taxRate)
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

/** The amount at a pointer, in the minor unit of the currency; `missing` where there is no value. */
function amountAt ({ data, digits }: Reading, pointer: string, missing?: Decimal): Decimal {
  return roundedTo(numberAt(data, pointer, missing), digits)
}

/** The number at a pointer; `missing` where there is no value. */
function numberAt (data: JsonObject, pointer: string, missing?: Decimal): Decimal {
  const amount = at(data, pointer) === undefined ? missing : decimalAt(data, pointer)
  if (amount === undefined) throw refused('invalid_amount', `There is no number at ${pointer} of the data.`, `/data${pointer}`)
  return amount
}
