import { formatCell } from '../compile/format.ts'
import { plainText } from '../compile/prose.ts'
import type { Cell, PageBox, ResolvedTotal, TableBlock } from '../model/document.ts'
import { sheetSize } from './styles.ts'
import { strongSize } from './table.ts'
import { boldness, digitsWide } from './text-lines.ts'
import { isNumberCell } from './values.ts'

/** The width of a digit in the ordinary font of a sheet, in points: columns are measured in digits. */
const digit = 5.25
/** The number of columns in a sheet without a table. */
const plainColumns = 12
/** The width in digits of a cell's edges. */
const edges = 1.5

/** The widths of a sheet's columns in characters: together as wide as the paper, and each wide enough for its numbers. */
export function widthsOf (table: TableBlock | undefined, { width, left, right }: PageBox, locale: string): number[] {
  const room = (width - left - right) / digit
  if (table === undefined) return Array.from({ length: plainColumns }, () => room / plainColumns)
  const rows = table.sections.flatMap((section) => section.rows)
  const total = table.columns.reduce((sum, column) => sum + column.width, 0)
  const widths = table.columns.map((column, index) =>
    Math.max(room * column.width / total, numbersWidth(rows.map((row) => row[index]), locale))
  )
  const totals = totalsWidth([...table.totals, ...table.sections.flatMap((section) => section.totals)], locale)
  const last = widths.pop() ?? room
  return widths.length === 0 ? [last - totals, totals] : [...widths, Math.max(last, totals)]
}

function totalsWidth (totals: readonly ResolvedTotal[], locale: string): number {
  const widthOf = (strong: boolean): number =>
    numbersWidth(totals.filter((total) => total.strong === strong).map(({ cell }) => cell), locale)
  return Math.max(widthOf(false), widthOf(true) * boldness * strongSize / sheetSize)
}

/** The width of the longest number. Text needs no least width, because it wraps. */
function numbersWidth (cells: Iterable<Cell | undefined>, locale: string): number {
  let longest: Cell | undefined
  let max = 0
  for (const cell of cells) {
    const length = cell === undefined || !isNumberCell(cell) ? 0 : String(cell.value).length
    if (length > max) [longest, max] = [cell, length]
  }
  return longest === undefined ? 0 : digitsWide(plainText(formatCell(longest, locale))) + edges
}
