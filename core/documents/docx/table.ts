import type { Align } from '../blocks.ts'
import type { Cell, ResolvedColumn, ResolvedTotal, TableBlock } from '../document.ts'
import { formatCell } from '../format.ts'
import { shares } from '../layout/widths.ts'
import { element, none, type Xml } from '../office/xml.ts'
import { border, noBorder } from './border.ts'
import { cell, cellProperties, gridOf, row, tableAround, unbroken, type CellFrame } from './grid.ts'
import { paragraph } from './paragraph.ts'
import { runs, type Look } from './runs.ts'
import type { Setting, StyleId } from './setting.ts'

/** Points between two columns: the table's style has it at the left of every cell. */
export const columnGap = 10

/** A table of the data: its header stands on every page, a row on one, and the totals stay with the last row. */
export function * table ({ columns, rows, totals }: TableBlock, width: number, setting: Setting): Generator<Xml> {
  const own = gridOf(shares(columns, width, columnGap), columnGap)
  // A total has a label and a value: a table of one column becomes two.
  const [widths, span] = own.length === 1 ? [[width / 2, width / 2], 2] : [own, 1]
  const frames = columns.map((_column, index) => ({ width: own[index] ?? 0, span, ...(index === 0 ? { left: 0 } : {}) }))
  const [start, end] = tableAround(widths, 'DataTable')
  yield start
  yield headerRow(columns, frames, setting)
  yield * bodyRows(rows, columns, frames, totals.length > 0, setting)
  const places = totalFrames(widths)
  for (const [index, total] of totals.entries()) yield totalRow(total, places, { align: columns.at(-1)?.align ?? 'right', isLast: index === totals.length - 1 }, setting)
  yield end
}

const repeated = element('w:tblHeader')

function headerRow (columns: readonly ResolvedColumn[], frames: readonly CellFrame[], setting: Setting): Xml {
  const borders = [border('bottom', { thickness: 1, color: setting.style.accent })]
  return row([unbroken, repeated], columns.map(({ header, align }, index) =>
    cell({ width: 0, ...frames[index], borders }, [paragraph({ style: 'TableHeading', content: runs(header, {}, setting), align })])))
}

/** What is the same in all rows is made once: a table may have a hundred thousand of them. */
function * bodyRows (rows: readonly (readonly Cell[])[], columns: readonly ResolvedColumn[], frames: readonly CellFrame[], hasTotals: boolean, setting: Setting): Generator<Xml> {
  const properties = frames.map(cellProperties)
  for (const [number, cells] of rows.entries()) {
    const keepNext = hasTotals && number === rows.length - 1
    yield row([unbroken], cells.map((value, index) =>
      element('w:tc', {}, properties[index] ?? none, valueCell(value, { style: 'TableText', align: columns[index]?.align ?? 'left', keepNext }, setting))))
  }
}

/** What a cell shows, as a paragraph; the spaces inside a number or a date do not break. */
export function valueCell (value: Cell, { look = {}, ...rest }: { style: StyleId, align?: Align, keepNext?: boolean, look?: Look }, setting: Setting): Xml {
  const shown = formatCell(value, setting.locale)
  const whole = value.type === 'text' ? shown : shown.map((run) => 'text' in run ? { ...run, text: run.text.replaceAll(' ', '\u00a0') } : run)
  return paragraph({ ...rest, content: runs(whole, look, setting) })
}

type TotalFrames = { before?: CellFrame, label: CellFrame, value: CellFrame }

/** The totals stand in the right half of the table: the labels at its left, the values under the last column, a fifth of the table wide at least. */
function totalFrames (widths: readonly number[]): TotalFrames {
  const edges = widths.reduce<number[]>((all, width) => [...all, (all.at(-1) ?? 0) + width], [0])
  const width = edges.at(-1) ?? 0
  const value = Math.max(1, edges.findLastIndex((edge, index) => index < widths.length && edge <= width * 0.8))
  const label = Math.max(0, edges.findLastIndex((edge, index) => index < value && edge <= width * 0.56))
  const between = (from: number, to: number): CellFrame => ({ width: (edges[to] ?? 0) - (edges[from] ?? 0), span: to - from, ...(from === 0 ? { left: 0 } : {}) })
  return { ...(label === 0 ? {} : { before: between(0, label) }), label: { ...between(label, value), left: 0 }, value: between(value, widths.length) }
}

function totalRow ({ label, cell: value, strong }: ResolvedTotal, frames: TotalFrames, { align, isLast }: { align: Align, isLast: boolean }, setting: Setting): Xml {
  const { style } = setting
  const look = strong ? { bold: true, size: style.size * 1.15 } : {}
  const plain = [noBorder('top'), noBorder('bottom')]
  const borders = strong ? [border('top', { thickness: 1, color: style.accent }), noBorder('bottom')] : plain
  const keepNext = !isLast
  return row([unbroken], [
    ...(frames.before === undefined ? [] : [cell({ ...frames.before, borders: plain }, [paragraph({ style: 'TableText', content: none, keepNext })])]),
    cell({ ...frames.label, borders }, [paragraph({ style: 'TableText', content: runs(label, look, setting), keepNext })]),
    cell({ ...frames.value, borders }, [valueCell(value, { style: 'TableText', align, keepNext, look }, setting)])
  ])
}
