import { type Decimal, grossAmount, halfUnit, lineTolerance, Money, type Problem } from '@dispatch/common'
import { type Amounts, type LineAmounts, sumOf } from '../amounts.ts'

type Found = { problems: Problem[], warnings: Problem[] }

/**
 * The sums of an invoice, for those fields that the data has. Every amount counts as it is printed: in the minor unit of the currency. So
 * what is printed adds up exactly, but for two things that follow from prices and rates: the total of a line, with the slack of EN 16931,
 * and the tax, which may be off by one minor unit for each line.
 */
export function checkSums (amounts: Amounts, { currency, digits }: { currency: string | undefined, digits: number }): Found {
  const lines = checkLines(amounts, digits)
  const unit = halfUnit(digits).mul(2)
  const problems = [
    ...lines.problems,
    ...checkSubtotal(amounts),
    ...checkTax(amounts, unit),
    ...checkTaxes(amounts, unit),
    ...checkTotal(amounts),
    ...checkDue(amounts)
  ]
  const rounded = asRounded(amounts, { currency, digits })
  // Where the rounded amounts do not add up, what was rounded is the first thing to tell.
  return problems.length > 0
    ? { problems: [...rounded, ...problems], warnings: lines.warnings }
    : { problems, warnings: [...rounded, ...lines.warnings] }
}

/** The amounts that the currency does not have. */
function asRounded ({ finer }: Amounts, { currency, digits }: { currency: string | undefined, digits: number }): Problem[] {
  return finer.map(({ at, given, rounded }) => ({
    path: `/template/data${at}`,
    code: 'finer_than_currency',
    message: `${given.toFixed()} has more decimals than ${currency ?? 'the currency'} (${digits}): it counts, and is printed, as ` +
      `${rounded.toFixed(digits)}.`
  }))
}

function checkLines ({ lines }: Amounts, digits: number): Found {
  const found: Found = { problems: [], warnings: [] }
  for (const [index, { quantity, unitPrice: price, priceQuantity, adjustment, total }] of lines.entries()) {
    if (quantity === undefined || price === undefined || adjustment === undefined || total === undefined ||
      priceQuantity?.isZero() === true) continue
    const expected = grossAmount({ quantity, price, priceQuantity }).add(adjustment)
    const path = `/template/data/lines/${index}/total`
    const rule = adjustment.isZero() ? 'quantity × unit price' : 'quantity × unit price, less allowances, plus charges'
    const [off] = differs(path, 'line_total', rule, total, expected, halfUnit(digits))
    if (off === undefined) continue
    const isNear = total.sub(expected).abs().lte(lineTolerance({ quantity, price, priceQuantity }, digits))
    if (isNear) found.warnings.push({ ...off, message: `${off.message} It is taken, because the unit price may be a rounded one.` })
    else found.problems.push(off)
  }
  return found
}

function checkSubtotal ({ lines, subtotal, pricesIncludeTax }: Amounts): Problem[] {
  const sum = sumOf(lines, totalOf)
  return subtotal === undefined || sum === undefined || pricesIncludeTax
    ? []
    : differs('/template/data/subtotal', 'subtotal', 'the sum of the line totals', subtotal, sum)
}

/** The tax of the document's one rate, or of the rates of its lines, allowances and charges where they carry their own. */
function checkTax (amounts: Amounts, unit: Decimal): Problem[] {
  const { lines, adjustments, taxRate: documentRate, taxAmount } = amounts
  if (taxAmount === undefined) return []
  const parts = taxedParts(amounts)
  const tax = parts === undefined ? undefined : sumOf(parts, ({ amount, rate }) => taxOn(amount, rate, amounts))
  if (tax === undefined) return []
  const rates = [documentRate, ...lines.map(({ taxRate }) => taxRate)]
  const rule = lines.some(({ taxRate }) => taxRate !== undefined) || adjustments.length > 0
    ? 'the sum of line totals × their rates'
    : 'subtotal × tax rate'
  const found = differs('/template/data/taxAmount', 'tax_amount', amounts.pricesIncludeTax ? 'the tax in the prices' : rule, taxAmount, tax,
    tolerance(amounts, unit))
  // The rate may be the mistake: then the problem is enough, without a warning.
  const small = rates.find((rate) => rate !== undefined && isFraction(rate))
  return small === undefined ? found : found.map((problem) => ({ ...problem, message: `${problem.message} ${readAs(small)}` }))
}

/** One minor unit for each line, because the tax may be rounded for each. */
function tolerance ({ lines }: Amounts, unit: Decimal): Decimal {
  return unit.mul(Math.max(1, lines.length))
}

type Part = { amount: Decimal | undefined, rate: Decimal | undefined }

/** What the tax is computed from. Undefined if an allowance or a charge has no rate: it may be taxed or not. */
export function taxedParts ({ lines, subtotal, taxRate, adjustments, pricesIncludeTax }: Amounts): Part[] | undefined {
  if (adjustments.some((adjustment) => adjustment.taxRate === undefined && adjustment.amount?.isZero() !== true)) return undefined
  const added = adjustments.map(({ amount, taxRate: rate }) => ({ amount, rate }))
  const isWhole = !pricesIncludeTax && subtotal !== undefined && lines.every((line) => line.taxRate === undefined)
  return isWhole
    ? [{ amount: subtotal, rate: taxRate }, ...added]
    : [...lines.map((line) => ({ amount: line.total, rate: line.taxRate ?? taxRate })), ...added]
}

/** The tax on an amount, or in it where prices include it. */
export function taxOn (amount: Decimal | undefined, rate: Decimal | undefined, { pricesIncludeTax }: Amounts): Decimal | undefined {
  return amount === undefined || rate === undefined ? undefined : amount.mul(rate).div(pricesIncludeTax ? rate.add(hundred) : hundred)
}

const hundred = new Money(100)

/** The tax by rate, where the data have it: its bases are those of the lines, its amounts follow from them, and their sum is the tax. */
function checkTaxes (amounts: Amounts, unit: Decimal): Problem[] {
  const { taxes, taxAmount } = amounts
  const [near, sum, bases] = [tolerance(amounts, unit), sumOf(taxes, ({ amount }) => amount), basesOf(amounts)]
  const differences = (rule: string, given: Decimal | undefined, expected: Decimal | undefined, max: Decimal): Problem[] =>
    given === undefined || expected === undefined ? [] : differs('/template/data/taxes', 'taxes', rule, given, expected, max)
  // One problem: what is wrong with one rate is nearly always wrong with another one, too.
  return [
    ...taxes.flatMap(({ rate, base, amount }) =>
      differences(`${shown(rate)} % of ${shown(base)}`, amount, product(base, rate)?.div(100), near)
    ),
    ...[...Map.groupBy(taxes, ({ rate }) => shown(rate))].flatMap(([rate, group]) =>
      differences(`the net amount at ${rate} %`, sumOf(group, ({ base }) => base), bases.get(rate), near)
    ),
    ...differences('the tax amount', sum, taxAmount, zero)
  ].slice(0, 1)
}

/** The net amounts by rate; none where one is not known. */
function basesOf (amounts: Amounts): ReadonlyMap<string, Decimal> {
  if (amounts.taxes.length === 0) return new Map()
  const bases = new Map<string, Decimal>()
  for (const { amount, rate } of taxedParts(amounts) ?? []) {
    const tax = taxOn(amount, rate, amounts)
    if (amount === undefined || tax === undefined) return new Map()
    bases.set(shown(rate), (bases.get(shown(rate)) ?? zero).add(amounts.pricesIncludeTax ? amount.sub(tax) : amount))
  }
  return bases
}

function shown (value: Decimal | undefined): string {
  return value?.toFixed() ?? ''
}

function product (amount: Decimal | undefined, rate: Decimal | undefined): Decimal | undefined {
  return amount === undefined || rate === undefined ? undefined : amount.mul(rate)
}

/** How a rate below one is read. */
export function readAs (rate: Decimal): string {
  return `${rate.toFixed()} is read as ${rate.toFixed()} %: 20 means 20 %.`
}

export function isFraction (rate: Decimal): boolean {
  return rate.gt(0) && rate.lt(1)
}

const totalOf = ({ total }: LineAmounts): Decimal | undefined => total

/** The subtotal, or the sum of the lines if the data have none, with what is added to it. Prices may include the tax. */
function checkTotal (amounts: Amounts): Problem[] {
  const { lines, taxAmount, total, adjustments, pricesIncludeTax } = amounts
  const [sum, added] = [sumOf(lines, totalOf), adjustments.length === 0 ? zero : sumOf(adjustments, ({ amount }) => amount)]
  if (total === undefined) return []
  if (pricesIncludeTax) return checkInclusive(amounts, { total, sum, added })
  const subtotal = amounts.subtotal ?? sum
  if (subtotal === undefined || taxAmount === undefined || added === undefined) return []
  return differs('/template/data/total', 'total', added.isZero() ? 'subtotal + tax' : 'subtotal − allowances + charges + tax', total,
    subtotal.add(added).add(taxAmount))
}

type Inclusive = { total: Decimal, sum: Decimal | undefined, added: Decimal | undefined }

/** Where prices include the tax, the lines make the total, and the subtotal is what is left without the tax. */
function checkInclusive ({ subtotal, taxAmount }: Amounts, { total, sum, added }: Inclusive): Problem[] {
  return [
    ...sum === undefined || added === undefined
      ? []
      : differs('/template/data/total', 'total', 'the sum of the line totals, less allowances, plus charges', total, sum.add(added)),
    ...subtotal === undefined || taxAmount === undefined
      ? []
      : differs('/template/data/subtotal', 'subtotal', 'total − tax', subtotal, total.sub(taxAmount))
  ]
}

const zero = new Money(0)

/** The amount due, if the data have all that it is computed from. Without a prepaid or a rounding amount, that amount is 0. */
function checkDue ({ total, due, prepaid, rounding }: Amounts): Problem[] {
  if (total === undefined || due === undefined || (prepaid === undefined && rounding === undefined)) return []
  return differs('/template/data/amountDue', 'amount_due', 'total − prepaid + rounding', due, total.sub(prepaid ?? 0).add(rounding ?? 0))
}

function differs (path: string, code: string, rule: string, given: Decimal, expected: Decimal, tolerance = zero): Problem[] {
  if (given.eq(expected) || given.sub(expected).abs().lte(tolerance)) return []
  return [{ path, code, message: `${given.toFixed()} is not ${rule}, which is ${expected.toFixed()}.` }]
}
