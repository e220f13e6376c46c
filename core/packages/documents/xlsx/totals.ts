import { Decimal } from 'decimal.js'

/** A number with its kind: only numbers of the same kind can be summed. */
export type Summable = { number: string, kind: string }

/** A number in the cell with this name. */
export type Addend = Summable & { name: string }

/**
 * The formula of a total: the sum of the totals above it, or of the last column of its table. Undefined if neither gives exactly the
 * number. Zeros get no formula, because they fit any sum.
 */
export function totalFormula (
  { number, kind }: Summable,
  above: readonly Addend[],
  column: { range: string, sum: { sum: Decimal, kind: string } } | undefined
): string | undefined {
  const total = new Decimal(number)
  const [first, last] = [above[0], above.at(-1)]
  if (total.isZero()) return undefined
  if (first !== undefined && last !== undefined && above.every((addend) => addend.kind === kind) &&
    Decimal.sum(...above.map((addend) => addend.number)).equals(total))
  {
    return first === last ? first.name : `SUM(${first.name}:${last.name})`
  }
  return column?.sum.kind === kind && column.sum.sum.equals(total) ? `SUM(${column.range})` : undefined
}
