import type { Align } from '../blocks.ts'
import type { KeyValuesBlock, TableBlock } from '../document.ts'
import { columnWidths, gap, gridRow } from './grid.ts'
import { labelled, plain, plainCell } from './inline.ts'
import { lengthOf, wrap } from './wrap.ts'

/** A table in aligned columns, the totals under the last; one line for each cell where the columns do not fit side by side. */
export function * table (block: TableBlock, width: number, locale: string): Generator<string> {
  const headers = block.columns.map(({ header }) => plain(header, locale))
  const rows = block.rows.map((row) => row.map((cell) => plainCell(cell, locale)))
  const totals = block.totals.map(({ label, cell }) => [plain(label, locale), plainCell(cell, locale)] as const)
  const widths = columnWidths([headers, ...rows], width)
  const length = widths === undefined ? 0 : widths.reduce((sum, own) => sum + own + gap, -gap)
  if (widths === undefined) yield * list(headers, rows, width)
  else yield * aligned(headers, rows, widths, block.columns.map(({ align }) => align))
  for (const [label, value] of totals) yield * total(label, value, length, width)
}

function * aligned (headers: readonly string[], rows: readonly string[][], widths: readonly number[], aligns: readonly Align[]): Generator<string> {
  yield * gridRow(headers, widths, aligns)
  yield widths.map((width) => '-'.repeat(width)).join(' '.repeat(gap))
  for (const row of rows) yield * gridRow(row, widths, aligns)
  yield '-'.repeat(widths.reduce((sum, width) => sum + width + gap, -gap))
}

function * list (headers: readonly string[], rows: readonly string[][], width: number): Generator<string> {
  if (rows.length === 0) yield * wrap(headers.join(', '), width)
  for (const row of rows) {
    for (const [index, cell] of row.entries()) yield * wrap(labelled(headers[index] ?? '', cell), width)
    yield ''
  }
}

/** A total ends where the table ends, while it fits on one line there. */
function total (label: string, value: string, length: number, width: number): string[] {
  const line = `${label}${' '.repeat(gap)}${value}`
  return line.includes('\n') || lengthOf(line) > length ? wrap(labelled(label, value), width) : [' '.repeat(length - lengthOf(line)) + line]
}

/** Labels and their values in two columns, or one line for each where they do not fit. */
export function * keyValues ({ entries }: KeyValuesBlock, width: number, locale: string): Generator<string> {
  const rows = entries.map(({ label, cell }) => [labelled(plain(label, locale), ''), plainCell(cell, locale)])
  const widths = columnWidths(rows, width)
  for (const row of rows) yield * widths === undefined ? wrap(row.join(' '), width) : gridRow(row, widths, [])
}
