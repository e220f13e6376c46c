import { type Decimal, minorDigits, Money } from '@dispatch/common'

/** What is taxed: an amount without its tax, and its rate in percent. */
export type Taxed = { net: Decimal, taxRate: Decimal }

/**
 * The taxes of lines, in minor units of the currency, with which the lines come to `total`. Programs round taxes in different ways: that of
 * each line, that of each rate, or that of the whole. Undefined where none of these ways makes the total, to within one minor unit.
 */
export function taxesOf (lines: readonly Taxed[], { total, currency = '' }: { total: Decimal, currency?: string }): Decimal[] | undefined {
  const unit = new Money(10).pow(-minorDigits(currency))
  const rounded = (amount: Decimal, how: Decimal.Rounding = Money.ROUND_HALF_UP): Decimal => amount.toNearest(unit, how)
  const nets = lines.map(({ net }) => rounded(net))
  const exact = nets.map((net, index) => taxOn(net, lines[index]?.taxRate ?? zero))
  const [net, tax] = [sum(nets), total.sub(sum(nets))]
  const rates = [...Map.groupBy(exact.entries(), ([index]) => String(lines[index]?.taxRate)).values()]
  const possible = [
    sum(exact.map((one) => rounded(one))),
    sum(exact.map((one) => rounded(one, Money.ROUND_HALF_EVEN))),
    sum(rates.map((taxes) => rounded(sum(taxes.map(([, one]) => one))))),
    rounded(sum(exact)),
    rounded(sum(lines.map((line) => line.net.add(taxOn(line.net, line.taxRate))))).sub(net)
  ]
  return possible.some((one) => one.sub(tax).abs().lte(unit)) ? spread(exact, tax, unit) : undefined
}

const zero = new Money(0)

function taxOn (net: Decimal, rate: Decimal): Decimal {
  return net.mul(rate).div(100)
}

function sum (amounts: readonly Decimal[]): Decimal {
  return amounts.reduce((all, one) => all.add(one), zero)
}

/** Whole units near the amounts, which come to the sum: those that lie nearest to the next unit get one more, or one less. */
function spread (amounts: readonly Decimal[], whole: Decimal, unit: Decimal): Decimal[] | undefined {
  const units = amounts.map((amount) => amount.toNearest(unit, Money.ROUND_HALF_UP))
  const left = whole.sub(sum(units))
  const step = unit.mul(left.isNegative() ? -1 : 1)
  const gainOf = (index: number): Decimal => (amounts[index] ?? zero).sub(units[index] ?? zero).mul(step)
  const taxed = [...amounts.keys()].filter((index) => amounts[index]?.isZero() === false)
  const chosen = taxed.sort((one, other) => gainOf(other).cmp(gainOf(one))).slice(0, left.div(step).toNumber())
  const spreadOut = units.map((amount, index) => chosen.includes(index) ? amount.add(step) : amount)
  return sum(spreadOut).eq(whole) ? spreadOut : undefined
}
