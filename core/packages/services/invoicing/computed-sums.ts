import { type Decimal, decimalOf, grossAmount, isRecord, type Json, type JsonObject, minorDigits, Money, roundedTo } from '@dispatch/common'
import { currencyOf } from '@dispatch/einvoice'
import { type Amounts, readAmounts, sumOf } from '../amounts.ts'
import { taxedParts, taxOn } from './invoice-sums.ts'

/** The fields that {@link computeSums} sets, where data have them: each line has its total. */
export const computedSums: readonly string[] = ['lines.total', 'subtotal', 'taxAmount', 'total', 'amountDue', 'taxes']

const zero = new Money(0)

/**
 * The data of an invoice with the sums that follow from quantities, prices and rates, by the rules that a dispatch is checked by: each line
 * and the tax of each rate are rounded to the minor unit of the currency. A sum that is right stays as it is written, and so does one that
 * cannot be computed yet. Data of which all sums are right are answered as they are.
 */
export function computeSums (data: JsonObject): JsonObject {
  const currency = data['currency'] ?? currencyOf(undefined)
  const digits = minorDigits(typeof currency === 'string' ? currency : '')
  const withLines = withAll(data, { lines: computedLines(data, digits) })
  const amounts = readAmounts(withLines, digits)
  const sums = sumsOf(amounts, digits)
  const set = (name: keyof typeof sums): Json | undefined => written(withLines[name], sums[name], { digits, like: data['total'] })
  return withAll(withLines, {
    subtotal: set('subtotal'),
    taxAmount: set('taxAmount'),
    total: set('total'),
    amountDue: withLines['amountDue'] === undefined ? undefined : set('amountDue'),
    taxes: computedTaxes(withLines, amounts, digits)
  })
}

type Sums = Record<'subtotal' | 'taxAmount' | 'total' | 'amountDue', Decimal | undefined>

function sumsOf (amounts: Amounts, digits: number): Sums {
  const { adjustments, prepaid = zero, rounding = zero, pricesIncludeTax } = amounts
  const lines = sumOf(amounts.lines, ({ total }) => total)
  const added = adjustments.length === 0 ? zero : sumOf(adjustments, ({ amount }) => amount)
  const taxAmount = sumOf(taxGroups({ ...amounts, subtotal: lines }, digits), ({ tax }) => tax)
  const whole = plus(lines, added)
  const total = pricesIncludeTax ? whole : plus(whole, taxAmount)
  return {
    subtotal: pricesIncludeTax ? plus(total, taxAmount?.neg()) : lines,
    taxAmount,
    total,
    amountDue: plus(total, prepaid.neg().add(rounding))
  }
}

const plus = (one: Decimal | undefined, other: Decimal | undefined): Decimal | undefined =>
  one === undefined || other === undefined ? undefined : one.add(other)

type TaxGroup = { rate: Decimal, base: Decimal, tax: Decimal }

/** The tax of each rate; none where an amount or a rate is not known. */
function taxGroups (amounts: Amounts, digits: number): TaxGroup[] {
  const groups = new Map<string, { rate: Decimal, sum: Decimal }>()
  for (const { amount, rate } of taxedParts(amounts) ?? []) {
    if (amount === undefined || rate === undefined) return []
    groups.set(rate.toFixed(), { rate, sum: (groups.get(rate.toFixed())?.sum ?? zero).add(amount) })
  }
  return [...groups.values()].map(({ rate, sum }) => {
    const tax = roundedTo(taxOn(sum, rate, amounts) ?? zero, digits)
    return { rate, base: amounts.pricesIncludeTax ? sum.sub(tax) : sum, tax }
  })
}

function computedLines (data: JsonObject, digits: number): Json | undefined {
  const lines = data['lines']
  if (!Array.isArray(lines)) return undefined
  const amounts = readAmounts(data, digits).lines
  return sameOr(lines, lines.map((line: Json, index) => {
    const { quantity, unitPrice: price, priceQuantity, adjustment } = amounts[index] ?? {}
    if (!isRecord(line) || quantity === undefined || price === undefined || adjustment === undefined) return line
    const total = roundedTo(grossAmount({ quantity, price, priceQuantity }).add(adjustment), digits)
    const own = line as JsonObject
    return withAll(own, { total: written(own['total'], total, { digits, like: data['total'] }) })
  }))
}

/** The tax by rate, where the data have it: what else stands beside a rate, such as its category, stays there. */
function computedTaxes (data: JsonObject, amounts: Amounts, digits: number): Json | undefined {
  const taxes = data['taxes']
  if (!Array.isArray(taxes)) return undefined
  const groups = taxGroups({ ...amounts, subtotal: sumOf(amounts.lines, ({ total }) => total) }, digits)
  const known = taxes.filter(isRecord) as JsonObject[]
  if (groups.length === 0 || known.length > groups.length) return undefined
  const computed = groups.map(({ rate, base, tax }) => {
    const entry = known.find((one) => decimalOf(one['rate'])?.eq(rate) === true) ?? { rate: rate.toFixed() }
    const like = { digits, like: data['total'] }
    return withAll(entry, { base: written(entry['base'], base, like), amount: written(entry['amount'], tax, like) })
  })
  const isComplete = known.every((one) => computed.some((entry) => decimalOf(entry['rate'])?.eq(decimalOf(one['rate']) ?? -1) === true))
  return isComplete ? sameOr(taxes, computed) : undefined
}

/** An amount as it is written, if it is this one already; else with the decimals of the currency, as a number where others are numbers. */
function written (given: Json | undefined, amount: Decimal | undefined, { digits, like }: { digits: number, like: Json | undefined }) {
  if (amount === undefined || decimalOf(given)?.eq(amount) === true) return given
  return typeof (given ?? like) === 'number' ? amount.toNumber() : amount.toFixed(digits)
}

/** The object with these members; the same one where nothing changes. */
function withAll (object: JsonObject, members: Readonly<Record<string, Json | undefined>>): JsonObject {
  const changed = Object.entries(members).filter(([name, value]) => value !== undefined && value !== object[name])
  return changed.length === 0 ? object : { ...object, ...Object.fromEntries(changed) as JsonObject }
}

/** The list of before, if each item is the same. */
function sameOr (before: readonly Json[], after: readonly Json[]): readonly Json[] {
  return before.length === after.length && after.every((item, index) => item === before[index]) ? before : after
}
