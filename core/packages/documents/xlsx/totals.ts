import { type Decimal, Money } from '@dispatch/common'

/** A number with its kind: only numbers of the same kind can be summed. */
export type Summable = { number: string, kind: string }

/** A number in the cell with this name. */
export type Addend = Summable & { name: string }

/** Integers up to this stay exact when two of them are added. */
const largest = Number.MAX_SAFE_INTEGER / 2

/**
 * The exact sum of decimals without exponents. They are added as integers by their number of decimals, because a Decimal for each of
 * thousands takes longer than writing their cells.
 */
export function exactSum (numbers: Iterable<string>): Decimal {
  const sums: number[] = []
  let rest = new Money(0)
  for (const number of numbers) {
    const point = number.indexOf('.')
    const decimals = point === -1 ? 0 : number.length - point - 1
    const sum = (sums[decimals] ?? 0) + Number(point === -1 ? number : number.slice(0, point) + number.slice(point + 1))
    if (Math.abs(sum) < largest) sums[decimals] = sum
    else rest = rest.plus(number)
  }
  return sums.reduce((whole, sum, decimals) => whole.plus(`${sum}e-${decimals}`), rest)
}

/**
 * The formula of a total: the sum of the totals above it, or of the last column of its table. Undefined if neither gives exactly the
 * number. Zeros get no formula, because they fit any sum.
 */
export function totalFormula (
  { number, kind }: Summable,
  above: readonly Addend[],
  column: { range: string, sum: { sum: Decimal, kind: string } } | undefined
): string | undefined {
  const total = new Money(number)
  const [first, last] = [above[0], above.at(-1)]
  if (total.isZero()) return undefined
  if (first !== undefined && last !== undefined && above.every((addend) => addend.kind === kind) &&
    Money.sum(...above.map((addend) => addend.number)).equals(total))
  {
    return first === last ? first.name : `SUM(${first.name}:${last.name})`
  }
  return column?.sum.kind === kind && column.sum.sum.equals(total) ? `SUM(${column.range})` : undefined
}
