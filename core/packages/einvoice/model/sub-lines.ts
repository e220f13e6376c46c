import { type Decimal, isRecord, type Json, memoizeByIdentity, Money } from '@dispatch/common'
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
  const groups = Map.groupBy(lines.filter(({ type }) => type === 'GROUP'), ({ id }) => id)
  if (groups.size === 0) return lines
  const sums = new Map<string, Decimal>([...groups.keys()].map((id) => [id, zero]))
  const open = new Map<string, number>()
  for (const { parent = '', type, net } of lines) {
    const sum = sums.get(parent)
    if (sum === undefined) continue
    if (type === 'GROUP') open.set(parent, (open.get(parent) ?? 0) + 1)
    else if (isCounted({ type })) sums.set(parent, sum.add(net))
  }
  // From the innermost groups outwards, without recursion: they may be nested as deeply as there are lines.
  const ready = [...groups.keys()].filter((id) => !open.has(id))
  for (const id of ready) {
    for (const { parent = '' } of groups.get(id) ?? []) {
      const sum = sums.get(parent)
      if (sum === undefined) continue
      sums.set(parent, sum.add(sums.get(id) ?? zero))
      const left = (open.get(parent) ?? 0) - 1
      open.set(parent, left)
      if (left === 0) ready.push(parent)
    }
  }
  return lines.map((line) => line.type === 'GROUP' ? { ...line, net: sums.get(line.id) ?? zero } : line)
}

/** The ids of the lines, each with that of the line above it. */
export const linesAbove = memoizeByIdentity((lines: readonly EInvoiceLine[]): ReadonlyMap<string, string | undefined> =>
  new Map(lines.map(({ id, parent }) => [id, parent]))
)

/** The ids of lines that stand below themselves. */
export const circlesIn = memoizeByIdentity((lines: readonly EInvoiceLine[]): ReadonlySet<string> => {
  const above = linesAbove(lines)
  const [found, done] = [new Set<string>(), new Set<string>()]
  for (const id of above.keys()) {
    const way = new Set<string>()
    let at: string | undefined = id
    for (; at !== undefined && !done.has(at); at = above.get(at)) {
      done.add(at)
      way.add(at)
    }
    // Where the way meets itself, a circle begins.
    if (at === undefined || !way.has(at)) continue
    for (let one: string | undefined = at; one !== undefined && !found.has(one); one = above.get(one)) found.add(one)
  }
  return found
})

const zero = new Money(0)
