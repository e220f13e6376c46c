import type { KeyValuesBlock, ResolvedTotal, TableBlock } from '../model/document.ts'
import { columnGapSpaces, columnWidths, gridRow } from './grid.ts'
import { labelled, plainCell, plainRuns } from './inline.ts'
import { lengthOf, wrap } from './wrap.ts'

/** A table in aligned columns, with the totals under the last one. If the columns do not fit side by side, each cell is one line. */
export function* textTable (block: TableBlock, width: number, locale: string): Generator<string> {
  const headers = block.columns.map(({ header }) => plainRuns(header, locale))
  const sections = block.sections.map(({ heading, rows, totals }) => ({
    heading: plainRuns(heading, locale),
    rows: rows.map((row) => row.map((cell) => plainCell(cell, locale))),
    totals
  }))
  const widths = columnWidths([headers, ...sections.flatMap(({ rows }) => rows)], width)
  const length = widths === undefined ? 0 : widths.reduce((sum, own) => sum + own + columnGapSpaces, -columnGapSpaces)
  const aligns = block.columns.map(({ align }) => align)
  if (widths !== undefined) yield* gridRow(headers, widths, aligns)
  else if (sections.every(({ rows }) => rows.length === 0)) yield* wrap(headers.join(', '), width)
  for (const { heading, rows, totals } of sections) {
    if (widths !== undefined) yield ruleOf(widths)
    if (heading !== '') yield* wrap(heading, width)
    if (widths === undefined) yield* list(headers, rows, width)
    else for (const row of rows) yield* gridRow(row, widths, aligns)
    yield* totalLines(totals, length, width, locale)
  }
  if (widths !== undefined) yield '-'.repeat(length)
  yield* totalLines(block.totals, length, width, locale)
}

function ruleOf (widths: readonly number[]): string {
  return widths.map((width) => '-'.repeat(width)).join(' '.repeat(columnGapSpaces))
}

function* list (headers: readonly string[], rows: readonly string[][], width: number): Generator<string> {
  for (const row of rows) {
    for (const [index, cell] of row.entries()) yield* wrap(labelled(headers[index] ?? '', cell), width)
    yield ''
  }
}

function totalLines (totals: readonly ResolvedTotal[], length: number, width: number, locale: string): string[] {
  return totals.flatMap(({ label, cell }) => total(plainRuns(label, locale), plainCell(cell, locale), length, width))
}

/** A total ends where the table ends, if it fits on one line there. */
function total (label: string, value: string, length: number, width: number): string[] {
  const line = `${label}${' '.repeat(columnGapSpaces)}${value}`
  return line.includes('\n') || lengthOf(line) > length ? wrap(labelled(label, value), width) : [' '.repeat(length - lengthOf(line)) + line]
}

/** Labels and their values in two columns. If they do not fit, each pair is one line. */
export function* textKeyValues ({ entries }: KeyValuesBlock, width: number, locale: string): Generator<string> {
  const rows = entries.map(({ label, cell }) => [labelled(plainRuns(label, locale), ''), plainCell(cell, locale)])
  const widths = columnWidths(rows, width)
  for (const row of rows) yield* widths === undefined ? wrap(row.join(' '), width) : gridRow(row, widths, [])
}
