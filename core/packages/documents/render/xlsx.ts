import { directionOf } from '../compile/direction.ts'
import { opening } from '../compile/flow.ts'
import type { ResolvedBlock, ResolvedDocument, TextRun } from '../model/document.ts'
import { renderLimits } from '../model/limits.ts'
import { encodeBounded } from '../model/output.ts'
import { packageParts, relationships, relationType } from '../office/package.ts'
import { element, none, partPieces, xmlPart, xmlText } from '../office/xml.ts'
import { zip, type ZipEntries } from '../office/zip.ts'
import { plainRuns } from '../text/inline.ts'
import { sheetNames } from '../xlsx/names.ts'
import { namespace } from '../xlsx/namespaces.ts'
import { printed } from '../xlsx/print.ts'
import { createSheet, type Sheet } from '../xlsx/sheet.ts'
import { type SheetSection, split } from '../xlsx/split.ts'
import { createStyles } from '../xlsx/styles.ts'
import { widthsOf } from '../xlsx/widths.ts'

/**
 * Makes an Excel workbook: one sheet for each table, with the text around it. Numbers, dates and amounts are typed values, and totals are
 * formulas. The same document and time give the same bytes. Throws a RenderError when it is too large.
 */
export function renderXlsx (document: ResolvedDocument, now: Date): Uint8Array<ArrayBuffer> {
  const { page, style, locale } = document
  const styles = createStyles(style)
  const direction = directionOf(locale)
  const [header, footer] = [printed(document.header, direction), printed(document.footer, direction)]
  const top = opening({ ...document, header: header.rest })
  const parts = split([...top, ...between(top), ...document.body, ...between(footer.rest), ...footer.rest], style)
  const sheets = parts.map((own) =>
    createSheet(own, { page, header: header.code, footer: footer.code }, {
      style,
      locale,
      direction,
      styles,
      columns: widthsOf(own.table, page, locale)
    })
  )
  const paths = sheets.map((_sheet, index) => `worksheets/sheet${index + 1}.xml`)
  const written = sheets.map(({ pieces }, index) =>
    [`xl/${paths[index] ?? ''}`, { ...encodeBounded(partPieces(pieces), renderLimits.markup), isVaried: true }] as const
  )
  return zip({
    ...packageParts(document, now, 'xl/workbook.xml', {
      'xl/workbook.xml': 'officedocument.spreadsheetml.sheet.main+xml',
      'xl/styles.xml': 'officedocument.spreadsheetml.styles+xml',
      ...Object.fromEntries(paths.map((path) => [`xl/${path}`, 'officedocument.spreadsheetml.worksheet+xml']))
    }),
    'xl/workbook.xml': workbook(sheetNames(parts.length === 1 ? [document.title] : parts.map((own) => nameOf(own, document))), sheets),
    'xl/_rels/workbook.xml.rels': relationships([
      ...paths.map((target, index) => ({ id: `rId${index + 1}`, type: relationType('worksheet'), target })),
      { id: `rId${paths.length + 1}`, type: relationType('styles'), target: 'styles.xml' }
    ]),
    ...Object.fromEntries(written),
    ...links(sheets),
    'xl/styles.xml': styles.part()
  })
}

/** The distance between the header or the footer and the body. */
function between (edge: readonly ResolvedBlock[]): ResolvedBlock[] {
  return edge.length === 0 ? [] : [{ kind: 'spacer', height: 12 }]
}

/** A sheet among others has the name of the heading above its table. */
function nameOf ({ above }: SheetSection, { title, locale }: ResolvedDocument): string {
  const heading = above.findLast((block) => block.kind === 'heading')
  const runs: readonly TextRun[] = heading?.kind === 'heading' ? heading.runs : [{ text: title }]
  return plainRuns(runs, locale)
}

function workbook (names: readonly string[], sheets: readonly Sheet[]): string {
  const titles = sheets.flatMap((sheet, index) => {
    const extent = sheet.titles()
    if (extent === undefined) return []
    return [
      element('definedName', { name: '_xlnm.Print_Titles', localSheetId: index },
        xmlText(`'${(names[index] ?? '').replaceAll('\'', '\'\'')}'!$${extent.first}:$${extent.last}`))
    ]
  })
  return xmlPart(
    element('workbook', { xmlns: namespace.main, 'xmlns:r': namespace.relations },
      element('sheets', {}, ...names.map((name, index) => element('sheet', { name, sheetId: index + 1, 'r:id': `rId${index + 1}` }))),
      titles.length === 0 ? none : element('definedNames', {}, ...titles))
  )
}

/** The targets of the links in the sheets. */
function links (sheets: readonly Sheet[]): ZipEntries {
  return Object.fromEntries(
    sheets.flatMap(({ relations }, index) =>
      relations().length === 0 ? [] : [[`xl/worksheets/_rels/sheet${index + 1}.xml.rels`, relationships(relations())] as const]
    )
  )
}
