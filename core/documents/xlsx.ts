import type { ResolvedDocument } from './document.ts'
import { renderAlternative } from './text.ts'
import { text } from './office/xml.ts'
import { zip } from './office/zip.ts'

const types = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
const officeDocument = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const relationships = (type: string, target: string): string => `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${officeDocument}/${type}" Target="${target}"/></Relationships>`
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const workbook = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><workbook xmlns="${main}" xmlns:r="${officeDocument}"><sheets><sheet name="Document" sheetId="1" r:id="rId1"/></sheets></workbook>`

/** Makes an Excel workbook; the same document and time give the same bytes. */
export function renderXlsx (document: ResolvedDocument): Uint8Array<ArrayBuffer> {
  const rows = renderAlternative(document).split('\n').map((line) => `<row><c t="inlineStr"><is><t xml:space="preserve">${text(line)}</t></is></c></row>`)
  const sheet = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><worksheet xmlns="${main}"><sheetData>${rows.join('')}</sheetData></worksheet>`
  const parts = {
    '[Content_Types].xml': types,
    '_rels/.rels': relationships('officeDocument', 'xl/workbook.xml'),
    'xl/workbook.xml': workbook,
    'xl/_rels/workbook.xml.rels': relationships('worksheet', 'worksheets/sheet1.xml'),
    'xl/worksheets/sheet1.xml': sheet
  }
  return zip(parts)
}
