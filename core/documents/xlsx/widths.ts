import type { Cell, PageBox, TableBlock } from '../document.ts'

/** Points of a digit in the usual type of a sheet: columns are measured in digits. */
const digit = 5.25
/** Columns of a sheet without a table. */
const plainColumns = 12
/** Characters that separators, a sign and a currency take besides the digits of a number. */
const besides = 5

/** The widths of a sheet's columns, in characters: together as wide as the paper, each wide enough for its numbers. */
export function widthsOf (table: TableBlock | undefined, { width, left, right }: PageBox): number[] {
  const room = (width - left - right) / digit
  if (table === undefined) return Array.from({ length: plainColumns }, () => room / plainColumns)
  const rows = table.sections.flatMap((section) => section.rows)
  const total = table.columns.reduce((sum, column) => sum + column.width, 0)
  const widths = table.columns.map((column, index) => Math.max(room * column.width / total, numbersWidth(rows.map((row) => row[index]))))
  const totals = numbersWidth([...table.totals, ...table.sections.flatMap((section) => section.totals)].map(({ cell }) => cell))
  const last = widths.pop() ?? room
  return widths.length === 0 ? [last - totals, totals] : [...widths, Math.max(last, totals)]
}

function numbersWidth (cells: readonly (Cell | undefined)[]): number {
  return cells.reduce((widest, cell) => Math.max(widest, cell === undefined || cell.type === 'empty' || cell.type === 'text' ? 0 : String(cell.value).slice(0, 15).length + besides), 0)
}
