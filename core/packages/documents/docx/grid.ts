import type { Extent } from '../layout/widths.ts'
import { around, element, none, type Xml } from '../office/xml.ts'
import type { DocxContext } from './context.ts'
import { twips } from './measure.ts'

/** A row of cells side by side, each with its paragraphs; `height` (points) is the least height. */
export type GridRow = { cells: readonly (readonly Xml[])[], height?: number }

/** A table for the layout only. The gap (points) is space on the left of every cell but the first. */
export function* layoutTable (extents: readonly Extent[], gap: number, rows: Iterable<GridRow>, setting: DocxContext): Generator<Xml> {
  const widths = gridOf(extents, gap)
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

/** Widths of adjacent columns without gaps: each column but the first includes its gap. */
export function gridOf (extents: readonly Extent[], gap: number): number[] {
  return extents.map(({ width }, index) => index === 0 ? width : width + gap)
}

/** The XML before and after the rows of a table with these columns (points). `style` names a style of the document. */
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

/** A row is not split between pages. */
export const cantSplit = element('w:cantSplit')

export function tableRow (properties: readonly Xml[], cells: readonly Xml[]): Xml {
  return element('w:tr', {}, element('w:trPr', {}, ...properties), ...cells)
}

/** The properties of a cell in points: `left` is the space at its left edge. `span`: the number of its columns. */
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
