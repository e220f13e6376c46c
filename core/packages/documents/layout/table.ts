import { sideOf } from '../compile/direction.ts'
import type { Cell, ResolvedColumn, ResolvedTotal, TableBlock, TextRun } from '../model/document.ts'
import { beside, type Box, kept, shifted } from './box.ts'
import { cellBox } from './cell.ts'
import { type LayoutContext, numbered, typography } from './context.ts'
import { framed } from './frame.ts'
import { stackBoxes } from './stack.ts'
import { textBox } from './text.ts'
import { type Extent, inDirection, shares } from './widths.ts'

/** Points between two columns, and above and below the text of a row. */
const columnGap = 10
const rowPadding = 3.5

/** Hairlines between rows. */
const hairline = { thickness: 0.4, color: '#d5dbe1' }

type Grid = { columns: readonly ResolvedColumn[], extents: readonly Extent[], width: number, setting: LayoutContext }

/** A table. Its header repeats on every page, a row is not split if it fits on a page, and the totals stay with the last row. */
export function tableBox (block: TableBlock, width: number, setting: LayoutContext): Box {
  const grid: Grid = { columns: block.columns, extents: shares(block.columns, width, columnGap, setting.direction), width, setting }
  const sections = block.sections.map(({ heading, rows, totals }) => withTotals(sectionRows(heading, rows, grid), totals, grid))
  return stackBoxes(withTotals(sections.flat(), block.totals, grid), headerRow(grid))
}

/** The rows of a section under its heading, which stays with the first row. */
function sectionRows (heading: readonly TextRun[], rows: readonly Cell[][], grid: Grid): Box[] {
  const boxes = rows.map((row) => bodyRow(row, grid))
  return heading.length === 0 ? boxes : [kept(headingRow(heading, grid)), ...boxes]
}

/** The rows with totals under them, which stay with the last row. */
function withTotals (rows: Box[], totals: readonly ResolvedTotal[], grid: Grid): Box[] {
  if (totals.length === 0) return rows
  const boxes = totals.map((total) => totalRow(total, grid))
  return [...rows.slice(0, -1), ...rows.slice(-1).map(kept), ...boxes.slice(0, -1).map(kept), ...boxes.slice(-1)]
}

/** The heading of a group spans all columns. */
function headingRow (heading: readonly TextRun[], grid: Grid): Box {
  const type = { ...typography(grid.setting, {}), bold: true }
  return framed(textBox(numbered(heading, grid.setting), type, grid.width, 'start'), {
    padding: rowPadding,
    width: grid.width,
    below: hairline
  })
}

function headerRow (grid: Grid): Box {
  const { style } = grid.setting
  const type = { ...typography(grid.setting, { color: style.accent, size: style.size * 0.92 }), bold: true }
  const cells = grid.columns.map(({ header, align }, index) =>
    inPlace(index, grid, (width) => textBox(numbered(header, grid.setting), type, width, sideOf(align, grid.setting.direction)))
  )
  return framed(beside(cells), { padding: rowPadding, width: grid.width, below: { thickness: 0.8, color: style.accent } })
}

function bodyRow (row: readonly Cell[], grid: Grid): Box {
  const type = typography(grid.setting, {})
  const cells = row.map((cell, index) =>
    inPlace(index, grid, (width) => cellBox(cell, type, width, grid.columns[index]?.align ?? 'start', grid.setting))
  )
  return framed(beside(cells), { padding: rowPadding, width: grid.width, below: hairline })
}

/** The totals are in the right half of the table: the labels on its left side, the values under the last column. */
function totalRow ({ label, cell, strong }: ResolvedTotal, grid: Grid): Box {
  const { style } = grid.setting
  const type = { ...typography(grid.setting, { size: style.size * (strong ? 1.15 : 1) }), bold: strong }
  const { half, labels, values } = totalExtents(grid)
  const cells = beside([
    shifted(textBox(numbered(label, grid.setting), type, labels.width, sideOf('start', grid.setting.direction)), labels.x),
    shifted(cellBox(cell, type, values.width, grid.columns.at(-1)?.align ?? 'end', grid.setting), values.x)
  ])
  return framed(cells, { padding: rowPadding, ...half, ...(strong ? { above: { thickness: 0.8, color: style.accent } } : {}) })
}

/** The horizontal extents of the totals, of their labels and of their values, which end where the last column ends. */
function totalExtents ({ extents, width, setting }: Grid): Record<'half' | 'labels' | 'values', Extent> {
  const last = extents.at(-1)?.width ?? width
  const values = Math.min(Math.max(last, width * 0.2), width * 0.6)
  // The labels keep their space, however wide the last column is.
  const start = Math.min(width * 0.55, width * 0.82 - values - columnGap)
  const extent = (x: number, wide: number): Extent => inDirection({ x, width: wide }, width, setting.direction)
  return {
    half: extent(start, width - start),
    labels: extent(start, Math.max(0, width - start - values - columnGap)),
    values: extent(width - values, values)
  }
}

function inPlace (index: number, { extents }: Grid, make: (width: number) => Box): Box {
  const { x, width } = extents[index] ?? { x: 0, width: 0 }
  return shifted(make(width), x)
}
