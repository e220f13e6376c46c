import type { Extent } from '../layout/widths.ts'
import { around, element, none, type Xml } from '../office/xml.ts'
import type { DocxContext } from './context.ts'
import { twips } from './measure.ts'

/** A row of cells side by side, each its paragraphs; `height` (points) is the least one. */
export type GridRow = { cells: readonly (readonly Xml[])[], height?: number }

/** A table that is there for the layout only. The gap (points) is room at the left of every cell but the first. */
export function* layoutTable (places: readonly Extent[], gap: number, rows: Iterable<GridRow>, setting: DocxContext): Generator<Xml> {
  const widths = gridOf(places, gap)
  const [start, end] = tableAround(widths, setting)
  yield start
  for (const { cells, height = 0 } of rows) {
    const least = height === 0 ? none : element('w:trHeight', { 'w:val': twips(height), 'w:hRule': 'atLeast' })
    yield tableRow([cantSplit, least], cells.map((content, index) =>
      cell({ width: widths[index] ?? 0, ...(index === 0 ? {} : { left: gap }) }, content)
    ))
  }
  yield end
}

/** Widths of columns that follow each other without a gap: it is a part of all but the first. */
export function gridOf (places: readonly Extent[], gap: number): number[] {
  return places.map(({ width }, index) => index === 0 ? width : width + gap)
}

/** What stands before and behind the rows of a table with these columns (points); `style` names one of the document's. */
export function tableAround (widths: readonly number[], { direction }: DocxContext, style?: string): [start: Xml, end: Xml] {
  const [start, end] = around('w:tbl', {})
  const properties = element('w:tblPr', {}, style === undefined ? none : element('w:tblStyle', { 'w:val': style }),
    direction === 'rtl' ? element('w:bidiVisual') : none,
    element('w:tblW', { 'w:w': twips(widths.reduce((sum, width) => sum + width, 0)), 'w:type': 'dxa' }),
    element('w:tblLayout', { 'w:type': 'fixed' }), style === undefined ? noMargins : none, element('w:tblLook', {
      'w:val': '0420',
      'w:firstRow': 1,
      'w:lastRow': 0,
      'w:firstColumn': 0,
      'w:lastColumn': 0,
      'w:noHBand': 0,
      'w:noVBand': 1
    }))
  const grid = element('w:tblGrid', {}, ...widths.map((width) => element('w:gridCol', { 'w:w': twips(width) })))
  return [start + properties + grid as Xml, end]
}

const margin = (side: string, points: number): Xml => element(`w:${side}`, { 'w:w': twips(points), 'w:type': 'dxa' })
const noMargins = element('w:tblCellMar', {}, margin('left', 0), margin('right', 0))

/** A row stays on one page. */
export const cantSplit = element('w:cantSplit')

export function tableRow (properties: readonly Xml[], cells: readonly Xml[]): Xml {
  return element('w:tr', {}, element('w:trPr', {}, ...properties), ...cells)
}

/** Of a cell, in points: `left` is room at its left end. `span`: how many columns it takes. */
export type CellFrame = { width: number, span?: number, left?: number, borders?: readonly Xml[] }

export function cell (frame: CellFrame, content: readonly Xml[]): Xml {
  return element('w:tc', {}, cellProperties(frame), ...content)
}

/** In the order of the schema (ECMA-376-1, CT_TcPr). */
export function cellProperties ({ width, span = 1, left, borders = [] }: CellFrame): Xml {
  return element('w:tcPr', {}, element('w:tcW', { 'w:w': twips(width), 'w:type': 'dxa' }),
    span === 1 ? none : element('w:gridSpan', { 'w:val': span }), borders.length === 0 ? none : element('w:tcBorders', {}, ...borders),
    left === undefined ? none : element('w:tcMar', {}, margin('left', left)))
}
