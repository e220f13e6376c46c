import { formatCell } from '../compile/format.ts'
import { plainText } from '../compile/prose.ts'
import { shares } from '../layout/widths.ts'
import type { Align } from '../model/blocks.ts'
import type { Cell, ResolvedColumn, ResolvedTotal, TableBlock, TableSection, TextRun } from '../model/document.ts'
import { element, none, type Xml } from '../office/xml.ts'
import { border, noBorder } from './border.ts'
import type { DocxContext, StyleId } from './context.ts'
import { cantSplit, cell, type CellFrame, cellProperties, gridOf, tableAround, tableRow } from './grid.ts'
import { paragraph } from './paragraph.ts'
import { runs, type RunStyle } from './runs.ts'

/** The distance in points between two columns: the table's style puts it on the left of every cell. */
export const columnGap = 10

/** `frames` are those of its columns; `widths` (points) are those of its grid. */
type Grid = { columns: readonly ResolvedColumn[], frames: readonly CellFrame[], widths: readonly number[], setting: DocxContext }

/** A table of data. Its header repeats on every page, a row is not split, and totals stay with the row above them. */
export function* docxTable ({ columns, sections, totals }: TableBlock, width: number, setting: DocxContext): Generator<Xml> {
  const own = gridOf(shares(columns, width, columnGap, 'ltr'), columnGap)
  // A total needs a label and a value, so a table with one column becomes a table with two.
  const [widths, span] = own.length === 1 ? [[width / 2, width / 2], 2] : [own, 1]
  const frames = columns.map((_column, index) => ({ width: own[index] ?? 0, span, ...(index === 0 ? { left: 0 } : {}) }))
  const grid = { columns, frames, widths, setting }
  const [start, end] = tableAround(widths, setting, 'DataTable')
  yield start
  yield headerRow(grid)
  for (const [index, section] of sections.entries()) yield* sectionRows(section, index === sections.length - 1 && totals.length > 0, grid)
  yield* totalRows(totals, false, grid)
  yield end
}

const repeated = element('w:tblHeader')

function headerRow ({ columns, frames, setting }: Grid): Xml {
  const borders = [border('bottom', { thickness: 1, color: setting.style.accent })]
  return tableRow([cantSplit, repeated], columns.map(({ header, align }, index) =>
    cell({ width: 0, ...frames[index], borders }, [
      paragraph({ style: 'TableHeading', content: runs(header, {}, setting), align }, setting)
    ])
  ))
}

/**
 * `isKept`: the last row stays with the next content. XML that is the same in all rows is made once, because a table may have a hundred
 * thousand rows.
 */
function* sectionRows ({ heading, rows, totals }: TableSection, isKept: boolean, grid: Grid): Generator<Xml> {
  const { columns, frames, setting } = grid
  const properties = frames.map(cellProperties)
  if (heading.length > 0) yield headingRow(heading, grid)
  for (const [number, cells] of rows.entries()) {
    const keepNext = (isKept || totals.length > 0) && number === rows.length - 1
    yield tableRow([cantSplit], cells.map((value, index) =>
      element('w:tc', {}, properties[index] ?? none,
        valueCell(value, { style: 'TableText', align: columns[index]?.align ?? 'start', keepNext }, setting))
    ))
  }
  yield* totalRows(totals, isKept, grid)
}

/** The heading of a group spans all columns, and stays with its first row. */
function headingRow (heading: readonly TextRun[], { widths, setting }: Grid): Xml {
  const frame = { width: widths.reduce((sum, width) => sum + width, 0), span: widths.length, left: 0 }
  return tableRow([cantSplit], [
    cell(frame, [paragraph({ style: 'TableText', content: runs(heading, { bold: true }, setting), keepNext: true }, setting)])
  ])
}

/** The content of a cell as a paragraph. Spaces inside a number or a date do not break. */
export function valueCell (
  value: Cell,
  { look = {}, ...rest }: { style: StyleId, align?: Align, keepNext?: boolean, look?: RunStyle },
  setting: DocxContext
): Xml {
  const shown = formatCell(value, setting.locale)
  const whole = value.type === 'text'
    ? shown
    : shown.map((run) => 'text' in run ? { ...run, text: run.text.replaceAll(' ', '\u00a0') } : run)
  return paragraph({ ...rest, content: runs(whole, look, setting), text: value.type === 'text' ? plainText(whole) : '' }, setting)
}

/** `align`: the alignment of the labels. It is the side of the values if the labels have much space. */
type TotalFrames = { before?: CellFrame, label: CellFrame, value: CellFrame, align: Align }

/**
 * The totals are in the right half of the table: the labels at its left edge, the values under the last column, with at least a fifth of
 * the table's width.
 */
function totalFrames (widths: readonly number[]): TotalFrames {
  const edges = widths.reduce<number[]>((all, width) => [...all, (all.at(-1) ?? 0) + width], [0])
  const width = edges.at(-1) ?? 0
  const value = Math.max(1, edges.findLastIndex((edge, index) => index < widths.length && edge <= width * 0.8))
  const label = Math.max(0, edges.findLastIndex((edge, index) => index < value && edge <= width * 0.56))
  const between = (from: number, to: number): CellFrame => ({
    width: (edges[to] ?? 0) - (edges[from] ?? 0),
    span: to - from,
    ...(from === 0 ? { left: 0 } : {})
  })
  return {
    ...(label === 0 ? {} : { before: between(0, label) }),
    label: { ...between(label, value), left: 0 },
    value: between(value, widths.length),
    align: (edges[label] ?? 0) < width * 0.4 ? 'end' : 'start'
  }
}

function* totalRows (totals: readonly ResolvedTotal[], isKept: boolean, grid: Grid): Generator<Xml> {
  const frames = totalFrames(grid.widths)
  for (const [index, total] of totals.entries()) yield totalRow(total, frames, isKept || index < totals.length - 1, grid)
}

function totalRow ({ label, cell: value, strong }: ResolvedTotal, frames: TotalFrames, keepNext: boolean, { columns, setting }: Grid): Xml {
  const { style } = setting
  const look = strong ? { bold: true, size: style.size * 1.15 } : {}
  const plain = [noBorder('top'), noBorder('bottom')]
  const borders = strong ? [border('top', { thickness: 1, color: style.accent }), noBorder('bottom')] : plain
  return tableRow([cantSplit], [
    ...(frames.before === undefined
      ? []
      : [cell({ ...frames.before, borders: plain }, [paragraph({ style: 'TableText', content: none, keepNext }, setting)])]),
    cell({ ...frames.label, borders }, [
      paragraph({ style: 'TableText', content: runs(label, look, setting), align: frames.align, keepNext }, setting)
    ]),
    cell({ ...frames.value, borders }, [
      valueCell(value, { style: 'TableText', align: columns.at(-1)?.align ?? 'end', keepNext, look }, setting)
    ])
  ])
}
