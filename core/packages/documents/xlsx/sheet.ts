import type { PageBox } from '../model/document.ts'
import { type Relation, relationType } from '../office/package.ts'
import { around, element, none, type Xml, xmlText } from '../office/xml.ts'
import { linesOfBlocks } from './blocks.ts'
import type { CellLine } from './cells.ts'
import type { SheetContext } from './context.ts'
import { namespace } from './namespaces.ts'
import { createRows, type Rows } from './rows.ts'
import type { SheetSection } from './split.ts'
import { bodyRows, headerRows } from './table.ts'
import { usualHeight } from './text-lines.ts'

/** The print settings of a sheet: its paper, and the codes of its header and footer. */
export type Print = { page: PageBox, header: string, footer: string }

/**
 * A sheet in pieces, and the facts that are known after the last one. `titles`: the rows (from 1) that repeat on every printed page, if
 * any.
 */
export type Sheet = { pieces: Iterable<Xml>, titles: () => Extent | undefined, relations: () => Relation[] }
type Extent = { first: number, last: number }

/** The distance between a table and the text around it. */
const room: CellLine = { cells: [], height: 6 }

/** The most rows above a table that stay fixed while scrolling. More would leave no space for the table on a screen. */
const maxFrozen = 20
/** The most links of a sheet. After that, a text keeps its words only. */
const maxLinks = 65_530

/** Lays out a sheet: text, a table, more text. */
export function createSheet ({ above, table, below }: SheetSection, print: Print, setting: SheetContext): Sheet {
  const range = { from: 0, to: setting.columns.length }
  const text = linesOfBlocks(above, range, setting)
  const start = table === undefined || text.length === 0 ? text : [...text, room]
  const headers = table === undefined ? [] : headerRows(table, setting)
  const header = { first: start.length + 1, last: start.length + headers.length }
  const rows = createRows()
  let tableEnd = 0
  return {
    // If the table fits on one page, its header would otherwise repeat above the text on the next page.
    titles: () => tableEnd > heightOf(print) ? header : undefined,
    relations: () =>
      rows.links.slice(0, maxLinks).map(({ url }, index) => ({
        id: `rId${index + 1}`,
        type: relationType('hyperlink'),
        target: url,
        external: true
      })),
    pieces: worksheet(setting, headers.length === 0 ? undefined : header.last, print, rows, data())
  }

  function* data (): Generator<Xml> {
    yield* written(start, rows)
    yield* written(headers, rows)
    if (table !== undefined) {
      yield* written(bodyRows(table, rows.count() + 1, setting), rows)
      tableEnd = rows.height()
    }
    const end = linesOfBlocks(below, range, setting)
    if (table !== undefined && end.length > 0) yield* written([room], rows)
    yield* written(end, rows)
  }
}

/** The height in points of a page for rows. */
function heightOf ({ page: { height, top, bottom } }: Print): number {
  return height - top - bottom
}

function* written (lines: Iterable<CellLine>, rows: Rows): Generator<Xml> {
  for (const line of lines) yield rows.add(line)
}

/** The parts of a sheet in the order of the schema (ECMA-376-1, CT_Worksheet). */
function* worksheet (
  { columns, direction }: SheetContext,
  header: number | undefined,
  print: Print,
  rows: Rows,
  data: Iterable<Xml>
): Generator<Xml> {
  const [start, end] = around('worksheet', { xmlns: namespace.main, 'xmlns:r': namespace.relations })
  const [open, close] = around('sheetData')
  yield start
  yield element('sheetPr', {}, element('pageSetUpPr', { fitToPage: 1 }))
  yield element('sheetViews', {},
    element('sheetView', { showGridLines: 0, rightToLeft: direction === 'rtl' ? 1 : undefined, workbookViewId: 0 },
      header === undefined || header > maxFrozen ? none : frozen(header)))
  yield element('sheetFormatPr', { defaultRowHeight: usualHeight })
  yield element('cols', {},
    ...columns.map((width, index) =>
      element('col', { min: index + 1, max: index + 1, width: Math.round(width * 100) / 100, customWidth: 1 })
    ))
  yield open
  yield* data
  yield close
  if (rows.merged.length > 0) {
    yield element('mergeCells', { count: rows.merged.length }, ...rows.merged.map((ref) => element('mergeCell', { ref })))
  }
  if (rows.links.length > 0) {
    yield element('hyperlinks', {}, ...rows.links.slice(0, maxLinks).map(({ name }, index) =>
      element('hyperlink', { ref: name, 'r:id': `rId${index + 1}` })
    ))
  }
  yield* printed(print)
  yield end
}

/** The rows down to this one stay fixed while scrolling. */
function frozen (row: number): Xml {
  return element('pane', { ySplit: row, topLeftCell: `A${row + 1}`, activePane: 'bottomLeft', state: 'frozen' })
}

/** One page wide, and as many pages high as necessary. */
function printed ({ page, header, footer }: Print): Xml[] {
  const inches = (points: number): number => Math.round(points / 72 * 1000) / 1000
  const { top, right, bottom, left, width, height } = page
  // 9 is A4, 1 is Letter (ECMA-376-1, 18.3.1.63).
  const paperSize = Math.min(width, height) > 600 ? 1 : 9
  return [
    element('pageMargins', {
      left: inches(left),
      right: inches(right),
      top: inches(top),
      bottom: inches(bottom),
      header: inches(top / 2),
      footer: inches(bottom / 2)
    }),
    element('pageSetup', { paperSize, orientation: width > height ? 'landscape' : 'portrait', fitToHeight: 0 }),
    ...(header === '' && footer === ''
      ? []
      : [
        element('headerFooter', {}, header === '' ? none : element('oddHeader', {}, xmlText(header)),
          footer === '' ? none : element('oddFooter', {}, xmlText(footer)))
      ])
  ]
}
