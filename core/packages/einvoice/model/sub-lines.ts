import { type Decimal, isRecord, type Json, Money } from '@dispatch/common'
import type { EInvoiceLine, LineType } from './model.ts'

const types: readonly LineType[] = ['DETAIL', 'GROUP', 'INFORMATION']

export function isLineType (text: unknown): text is LineType {
  return types.some((type) => type === text)
}

/** Whether a line counts in the sums: one that groups others, or only says something, does not. */
export function isCounted ({ type }: Pick<EInvoiceLine, 'type'>): boolean {
  return type === undefined || type === 'DETAIL'
}

/** The same, of a line in the data. */
export function isCountedIn (line: Json): boolean {
  return !isRecord(line) || (line['lineType'] !== 'GROUP' && line['lineType'] !== 'INFORMATION')
}

/** The lines, where each group has the sum of those below it. A group that stands below itself has what its other lines make. */
export function withGroupSums (lines: readonly EInvoiceLine[]): readonly EInvoiceLine[] {
  if (!lines.some(({ type }) => type === 'GROUP')) return lines
  const below = Map.groupBy(lines, ({ parent }) => parent)
  const sums = new Map<EInvoiceLine, Decimal>()
  const sumOf = (line: EInvoiceLine): Decimal => {
    const known = sums.get(line)
    if (known !== undefined) return known
    sums.set(line, zero)
    const sum = (below.get(line.id) ?? []).reduce((so, one) => {
      if (one.type === 'GROUP') return so.add(sumOf(one))
      return isCounted(one) ? so.add(one.net) : so
    }, zero)
    sums.set(line, sum)
    return sum
  }
  return lines.map((line) => line.type === 'GROUP' ? { ...line, net: sumOf(line) } : line)
}

const zero = new Money(0)
