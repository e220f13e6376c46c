import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { formatMoney } from '../../../core/packages/documents/compile/format.ts'
import type { SampleInvoice } from './pdf-by-hand.ts'

/** Makes an invoice and returns the bytes of its file. */
export type Make = (invoice: SampleInvoice) => Promise<Uint8Array>

const load = createRequire(import.meta.url)

/**
 * The table of an invoice as `docx` and `exceljs` make it, if they are installed: packages of this folder only, which the service does not
 * depend on.
 */
export function peers (): Record<string, Make> {
  const makers = Object.entries({ docx, exceljs }).filter(([name]) => existsSync(new URL(`../node_modules/${name}/`, import.meta.url)))
  return Object.fromEntries(makers.map(([name, maker]) => [`${name} (the table alone)`, maker()]))
}

/** The used part of the packages. They are installed for the benchmark only, and so are their types. */
type Maker = new(options: object) => object
type Docx = Record<'Document' | 'Paragraph' | 'Table' | 'TableRow' | 'TableCell', Maker> & {
  Packer: { toBuffer: (document: object) => Promise<Buffer> }
}
type Workbook = {
  addWorksheet: (name: string) => { addRow: (values: unknown[]) => { getCell: (column: number) => { numFmt: string, value: unknown } } }
  xlsx: { writeBuffer: () => Promise<Buffer> }
}

const headers = ['Description', 'Quantity', 'Unit price', 'Amount']

function docx (): Make {
  const { Document, Paragraph, Table, TableRow, TableCell, Packer } = load('docx') as Docx
  const row = (cells: readonly string[], options: object = {}): object =>
    new TableRow({ ...options, children: cells.map((text) => new TableCell({ children: [new Paragraph({ text })] })) })
  return async ({ lines }) => {
    const rows = lines.map(({ description, quantity, unitPrice, total }) =>
      row([description, String(quantity), formatMoney(unitPrice, 'EUR', 'en-GB', 4), formatMoney(total, 'EUR', 'en-GB')])
    )
    return await Packer.toBuffer(
      new Document({ sections: [{ children: [new Table({ rows: [row(headers, { tableHeader: true }), ...rows] })] }] })
    )
  }
}

function exceljs (): Make {
  const { Workbook } = load('exceljs') as { Workbook: new() => Workbook }
  return async ({ lines, total }) => {
    const workbook = new Workbook()
    const sheet = workbook.addWorksheet('Invoice')
    sheet.addRow(headers)
    for (const { description, quantity, unitPrice, total: amount } of lines) {
      const row = sheet.addRow([description, quantity, Number(unitPrice), Number(amount)])
      for (const column of [3, 4]) row.getCell(column).numFmt = '[$€]#,##0.00'
    }
    sheet.addRow([]).getCell(4).value = { formula: `SUM(D2:D${String(lines.length + 1)})`, result: Number(total) }
    return await workbook.xlsx.writeBuffer()
  }
}
