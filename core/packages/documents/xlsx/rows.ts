import { element, none, type Xml, xmlText } from '../office/xml.ts'
import { type CellLine, cellReference, columnName, type PlacedCell } from './cells.ts'
import { usualHeight } from './text-lines.ts'

/** Slightly less than the highest row of a sheet in points. */
const maxHeight = 400

/** Writes the rows of a sheet, one below the other. `merged` and `links` are written after them. */
export type Rows = {
  /** A row of cells in the order of their columns. */
  add: (line: CellLine) => Xml
  /** The number of rows. */
  count: () => number
  /** The total height in points. */
  height: () => number
  /** The merged cells, such as A1:C1. */
  merged: string[]
  /** The links of cells. */
  links: { name: string, url: string }[]
}

/** The rows of a sheet, with merged cells and links. */
export function createRows (): Rows {
  const merged: string[] = []
  const links: Rows['links'] = []
  let [count, sum] = [0, 0]
  return {
    merged,
    links,
    count: () => count,
    height: () => sum,
    add ({ cells, height: desired }) {
      const height = Math.min(maxHeight, desired)
      count++
      sum += height
      for (const placed of cells) note(placed, count)
      return row(cells, count, height)
    }
  }

  /** Keeps what is written after the rows. */
  function note ({ column, span = 1, down = 1, link }: PlacedCell, row: number): void {
    if (span > 1 || down > 1) merged.push(`${cellReference(column, row)}:${cellReference(column + span - 1, row + down - 1)}`)
    if (link !== undefined) links.push({ name: cellReference(column, row), url: link })
  }
}

// A sheet has a hundred thousand cells where a document has a hundred paragraphs: they are written as texts, which takes a third of the
// time of `element`. None of their parts needs to be escaped: they are numbers, names of cells, and XML already.

function row (cells: readonly PlacedCell[], number: number, height: number): Xml {
  const own = height === usualHeight ? `<row r="${number}"` : `<row r="${number}" ht="${height}" customHeight="1"`
  if (cells.length === 0) return `${own}/>` as Xml
  let text = `${own}>`
  for (const placed of cells) text += cell(columnName(placed.column), number, placed)
  return `${text}</row>` as Xml
}

function cell (column: string, row: number, { style, value }: PlacedCell): string {
  const start = `<c r="${column}${row}" s="${style}`
  if (value === undefined) return `${start}"/>`
  if ('text' in value) return `${start}" t="inlineStr">${value.text}</c>`
  const formula = value.formula === undefined ? none : element('f', {}, xmlText(value.formula))
  return `${start}">${formula}<v>${value.number}</v></c>`
}
