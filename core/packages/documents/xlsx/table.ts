import type { Decimal } from '@dispatch/common'
import { sideOf } from '../compile/direction.ts'
import { formatCell } from '../compile/format.ts'
import type { Cell, ResolvedColumn, ResolvedTotal, TableBlock } from '../model/document.ts'
import { type CellLine, cellReference, type PlacedCell, textCell } from './cells.ts'
import type { SheetContext } from './context.ts'
import { portions, type RichText, richTextOf } from './rich-text.ts'
import { type CellBorder, type CellStyle, sheetSize } from './styles.ts'
import { boldness, lineHeight, rowsIn, textLines, usualHeight } from './text-lines.ts'
import { type Addend, exactSum, type Summable, totalFormula } from './totals.ts'
import { alike, formatOf, isNumberCell, type NumberCell, storedNumber, typed } from './values.ts'

/** Hairlines between rows. */
const hairline: CellBorder = { style: 'thin', color: '#d5dbe1' }

/** The header of a table: one row, unless a text is longer than a cell. */
export function headerRows ({ columns }: TableBlock, setting: SheetContext): CellLine[] {
  const { accent } = setting.style
  const look: CellStyle = { bold: true, color: accent, wrap: true, bottom: { style: 'medium', color: accent } }
  return rowsOf(columns.map(({ header }) => ({ type: 'text', runs: header })),
    (cell, column) => textCells(cell, column, { ...look, align: sideOf(columns[column]?.align ?? 'start', setting.direction) }, setting))
}

/** The rows of a table and its totals. `first` is the row of the sheet (from 1) where they begin. */
export function* bodyRows ({ columns, sections, totals }: TableBlock, first: number, setting: SheetContext): Generator<CellLine> {
  const cellsOf = columns.map((column, index) => cellMaker(column, index, setting))
  const ranges: string[] = []
  let row = first
  for (const section of sections) {
    const heading = section.heading.length === 0
      ? []
      : textLines(richTextOf(section.heading, setting.locale), { bold: true }, { from: 0, to: columns.length }, setting)
    yield* heading
    const start = row + heading.length
    let end = start
    for (const cells of section.rows) {
      const rows = rowsOf(cells, (cell, column) => cellsOf[column]?.(cell) ?? [])
      end += rows.length
      yield* rows
    }
    const range = end === start ? [] : [`${cellReference(columns.length - 1, start)}:${cellReference(columns.length - 1, end - 1)}`]
    const own = totalRows(section.totals, columns, { rows: section.rows, ranges: range }, end, setting)
    ranges.push(...range)
    row = end + own.length
    yield* own
  }
  yield* totalRows(totals, columns, { rows: sections.flatMap(({ rows }) => rows), ranges }, row, setting)
}

/** A cell of a row that is at least so high (points). */
type Content = PlacedCell & { height?: number }
/** The cells of one value, below each other: nearly always one. */
type Contents = Content | readonly Content[]

/** A row of the results of its cells. A cell that becomes several continues in the rows below. */
function rowsOf (cells: readonly Cell[], contentsOf: (cell: Cell, column: number) => Contents): CellLine[] {
  const contents = cells.map(contentsOf)
  if (contents.every(isSingle)) return [lineOf(contents)]
  const columns = contents.map((content) => isSingle(content) ? [content] : content)
  const count = Math.max(1, ...columns.map(({ length }) => length))
  return Array.from({ length: count }, (_, index) => lineOf(columns.flatMap((parts) => parts[index] ?? [])))
}

function isSingle (contents: Contents): contents is Content {
  return 'style' in contents
}

function lineOf (cells: readonly Content[]): CellLine {
  let max = usualHeight
  for (const { height = 0 } of cells) if (height > max) max = height
  return { cells, height: max }
}

/** Makes the cells of a column. The styles of its numbers are created once: nearly always, they differ in their decimals only. */
function cellMaker ({ align }: ResolvedColumn, column: number, setting: SheetContext): (cell: Cell) => Contents {
  const look: CellStyle = { align: sideOf(align, setting.direction), bottom: hairline }
  const wrapped: CellStyle = { ...look, wrap: true }
  let last: NumberCell | undefined
  let stylesByDecimals: number[] = []
  return (cell) => {
    const stored = isNumberCell(cell) ? storedNumber(cell) : undefined
    if (stored === undefined || !isNumberCell(cell)) return textCells(cell, column, wrapped, setting)
    if (last === undefined || !alike(last, cell)) stylesByDecimals = []
    last = cell
    const { number, decimals } = stored
    const style = stylesByDecimals[decimals] ??= setting.styles.of({ ...look, format: formatOf(cell, decimals, setting.locale) })
    return { column, style, value: { number } }
  }
}

/** Text breaks in its column, if its style says so. */
function textCells (cell: Cell, column: number, look: CellStyle, setting: SheetContext): Contents {
  if (cell.type === 'empty') return { column, style: setting.styles.of(look) }
  const [words = [], ...more] = portions(richTextOf(formatCell(cell, setting.locale), setting.locale))
  const first = textContent(words, column, look, setting)
  return more.length === 0 ? first : [first, ...more.map((next) => textContent(next, column, look, setting))]
}

function textContent (words: RichText, column: number, look: CellStyle, { styles, columns }: SheetContext): Content {
  const { size = sheetSize, wrap = false, bold = false } = look
  const rows = wrap ? rowsIn(words, (columns[column] ?? 1) * sheetSize / size / (bold ? boldness : 1)) : 1
  return { column, ...textCell(words, look, styles), height: rows * lineHeight(size) }
}

/** The rows that totals may sum, and the cells of their last column. */
type Summed = { rows: readonly (readonly Cell[])[], ranges: readonly string[] }

/** The most ranges of a sum. */
const maxRanges = 255

/**
 * The totals from a row of the sheet on, with their values under the last column. A value is a formula if the formula gives the same
 * number.
 */
function totalRows (
  totals: readonly ResolvedTotal[],
  columns: readonly ResolvedColumn[],
  { rows, ranges }: Summed,
  first: number,
  setting: SheetContext
): CellLine[] {
  const sum = totals.length === 0 || ranges.length > maxRanges
    ? undefined
    : sumOf(rows.map((row) => row[columns.length - 1] ?? { type: 'empty' }))
  const made: CellLine[] = []
  const above: Addend[] = []
  for (const total of totals) {
    const name = cellReference(valueColumn(columns), first + made.length)
    const number = numberOf(total.cell)
    const formula = number === undefined
      ? undefined
      : totalFormula(number, above, sum === undefined ? undefined : { range: ranges.join(), sum })
    if (number !== undefined) above.push({ name, ...number })
    made.push(...totalLines(total, columns, formula, setting))
  }
  return made
}

/** The column of the totals' values. A total needs a label and a value, so a table with one column becomes a table with two. */
function valueColumn (columns: readonly unknown[]): number {
  return Math.max(1, columns.length - 1)
}

/** The font size in points of an emphasized total. */
export const strongSize = sheetSize * 1.15

/** A label flows over the empty cells on its left. */
function totalLines (
  { label, cell, strong }: ResolvedTotal,
  columns: readonly ResolvedColumn[],
  formula: string | undefined,
  setting: SheetContext
): CellLine[] {
  const look: CellStyle = strong ? { bold: true, size: strongSize, top: { style: 'medium', color: setting.style.accent } } : {}
  const first = valueColumn(columns) - 1
  return rowsOf([{ type: 'text', runs: label }, cell], (part, index) => {
    const own = { ...look, align: sideOf(index === 0 ? 'end' : columns.at(-1)?.align ?? 'end', setting.direction) }
    const number = typed(part, setting.locale)
    if (number === undefined) return textCells(part, first + index, own, setting)
    return {
      column: first + index,
      style: setting.styles.of({ ...own, format: number.format }),
      value: { number: number.number, ...(formula === undefined ? {} : { formula }) },
      height: lineHeight(own.size ?? sheetSize)
    }
  })
}

/** The kind of a value that can be summed; a date cannot. */
function numberOf (cell: Cell): Summable | undefined {
  if (!isNumberCell(cell) || cell.type === 'date') return undefined
  const number = storedNumber(cell)?.number
  return number === undefined ? undefined : { number, kind: cell.type === 'money' ? cell.currency : cell.type }
}

/** The sum of cells of one kind, or of empty ones; undefined if there is none. */
function sumOf (cells: readonly Cell[]): { kind: string, sum: Decimal } | undefined {
  const numbers: string[] = []
  let kind: string | undefined
  for (const cell of cells) {
    if (cell.type === 'empty') continue
    const number = numberOf(cell)
    if (number === undefined) return undefined
    if (kind !== undefined && number.kind !== kind) return undefined
    kind = number.kind
    numbers.push(number.number)
  }
  return kind === undefined ? undefined : { kind, sum: exactSum(numbers) }
}
