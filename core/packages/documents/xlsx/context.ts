import type { Direction } from '../compile/direction.ts'
import type { ResolvedStyle } from '../model/document.ts'
import { sheetSize, type Styles } from './styles.ts'

/** The facts that all cells of a sheet share. `columns`: the widths of its columns in characters. */
export type SheetContext = { style: ResolvedStyle, locale: string, direction: Direction, styles: Styles, columns: readonly number[] }

/** Adjacent columns: from the first one (from 0) to the last one, which is excluded. */
export type ColumnRange = { from: number, to: number }

/** How many characters fit side by side. */
export function widthOf ({ from, to }: ColumnRange, { columns }: Pick<SheetContext, 'columns'>): number {
  let sum = 0
  for (let column = from; column < to; column++) sum += columns[column] ?? 0
  return sum
}

/** The font size in a sheet for a size (points) on paper. */
export function sized (size: number, { style }: Pick<SheetContext, 'style'>): number {
  return Math.round(size / style.size * sheetSize * 2) / 2
}

/** Divides the range into parts, in proportion to their shares as far as the columns permit; undefined when it has too few columns. */
export function splitRange (
  range: ColumnRange,
  shares: readonly number[],
  setting: Pick<SheetContext, 'columns'>
): ColumnRange[] | undefined {
  const count = range.to - range.from
  if (count < shares.length) return undefined
  const total = shares.reduce((sum, share) => sum + share, 0)
  const width = widthOf(range, setting)
  let [from, shared] = [range.from, 0]
  return shares.map((share, index) => {
    shared += share
    const desired = width * shared / total
    // Every later part needs a column too.
    const latest = range.to - (shares.length - index - 1)
    const ends = Array.from({ length: latest - from }, (_, more) => from + 1 + more)
    const distance = (to: number): number => Math.abs(widthOf({ from: range.from, to }, setting) - desired)
    const to = index === shares.length - 1 ? range.to : ends.reduce((best, end) => distance(end) < distance(best) ? end : best)
    const part = { from, to }
    from = to
    return part
  })
}
