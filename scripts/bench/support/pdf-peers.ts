import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { formatDate, formatMoney, formatNumber, formatPercent } from '../../../core/packages/documents/compile/format.ts'
import type { SampleInvoice } from './pdf-by-hand.ts'

/** Makes an invoice and returns the bytes of its PDF. */
type Make = (invoice: SampleInvoice) => Promise<Uint8Array>

/** Whether the peers are installed: packages of this folder only, which the service does not depend on. */
export function hasPeers (): boolean {
  return existsSync(new URL('../node_modules/', import.meta.url))
}

/** The page of `templates/invoice` as pdfmake and @react-pdf/renderer make it, with the same embedded fonts. */
export async function peers (): Promise<Record<string, Make>> {
  return { pdfmake: pdfmake(), '@react-pdf/renderer': await reactPdf() }
}

const font = (name: string): string => createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)
const fonts = { normal: font('DejaVuSans'), bold: font('DejaVuSans-Bold') }

const headers = ['Description', 'Quantity', 'Unit price', 'Tax', 'Amount']
const widths = [237, 46, 73, 30, 80]
const money = (amount: string, digits?: number): string => formatMoney(amount, 'EUR', 'en-GB', digits)
const rowsOf = ({ lines }: SampleInvoice): string[][] =>
  lines.map(({ description, quantity, unitPrice, taxRate, total }) => [
    description,
    formatNumber(quantity, 'en-GB'),
    money(unitPrice, 4),
    formatPercent(taxRate, 'en-GB'),
    money(total)
  ])
const sellerOf = ({ seller }: SampleInvoice): string =>
  [seller.address, `${seller.postalCode} ${seller.city}`, seller.country, seller.email, seller.phone].join('\n')
const customerOf = ({ customer }: SampleInvoice): string =>
  [customer.address, `${customer.postalCode} ${customer.city}`, customer.country, `VAT ${customer.vatId}`, customer.email].join('\n')
const factsOf = ({ number, date, dueDate, reference }: SampleInvoice): string[][] => [
  ['Invoice number', number],
  [
    'Invoice date',
    formatDate(date, 'en-GB')
  ],
  ['Due date', formatDate(dueDate, 'en-GB')],
  ['Reference', reference]
]
const totalsOf = ({ subtotal, taxRate, taxAmount, total }: SampleInvoice): string[][] => [
  ['Subtotal', money(subtotal)],
  [`Tax ${formatPercent(taxRate, 'en-GB')}`, money(taxAmount)],
  ['Total', money(total)]
]
const bankOf = ({ bankDetails, number }: SampleInvoice): string[][] => [
  ['Account holder', bankDetails.accountHolder],
  ['IBAN', bankDetails.iban],
  ['BIC', bankDetails.bic],
  ['Bank', bankDetails.bank],
  ['Reference', number]
]

/** The used part of pdfmake. It is installed for the benchmark only, and so are its types. */
type Printer = { createPdfKitDocument: (definition: object) => NodeJS.ReadableStream & { end: () => void } }

function pdfmake (): Make {
  const PdfPrinter = createRequire(import.meta.url)('pdfmake') as new(fonts: object) => Printer
  const printer = new PdfPrinter({ Sans: fonts })
  const table = (rows: unknown[][], widths: (number | string)[], layout: string): object => ({ layout, table: { widths, body: rows } })
  return async (invoice) => {
    const pdf = printer.createPdfKitDocument({
      pageSize: 'A4',
      pageMargins: [51, 51, 51, 62],
      defaultStyle: { font: 'Sans', fontSize: 8.5 },
      footer: (page: number, pages: number) => ({
        margin: [51, 20],
        columns: [
          `${invoice.seller.name} · VAT ${invoice.seller.vatId}`,
          { text: `Invoice ${invoice.number} · Page ${String(page)} of ${String(pages)}`, alignment: 'right' }
        ]
      }),
      content: [
        {
          columns: [
            [{ text: 'Invoice', fontSize: 17, bold: true }, invoice.number],
            { text: `${invoice.seller.name}\n${sellerOf(invoice)}`, alignment: 'right' }
          ]
        },
        {
          margin: [0, 20],
          columns: [
            [{ text: 'Bill to', fontSize: 7.5 }, { text: invoice.customer.name, bold: true }, customerOf(invoice)],
            table(factsOf(invoice), [75, '*'], 'noBorders')
          ]
        },
        {
          layout: 'lightHorizontalLines',
          table: {
            headerRows: 1,
            widths: ['*', 46, 73, 30, 80],
            body: [
              headers.map((text) => ({ text, bold: true })),
              ...rowsOf(invoice).map((row) => row.map((text, index) => ({ text, alignment: index === 0 ? 'left' : 'right' })))
            ]
          }
        },
        {
          margin: [271, 0, 0, 0],
          ...table(totalsOf(invoice).map(([label, value]) => [label, { text: value, alignment: 'right' }]), ['*', 'auto'], 'noBorders')
        },
        {
          margin: [0, 18],
          columns: [
            [{ text: 'Bank details', bold: true }, table(bankOf(invoice), [75, '*'], 'noBorders')],
            [
              { text: 'Payment terms', bold: true },
              invoice.paymentTerms
            ]
          ]
        },
        { text: 'Notes', bold: true },
        invoice.notes,
        { text: invoice.conditions, fontSize: 7 }
      ]
    })
    const bytes = buffer(pdf)
    pdf.end()
    return await bytes
  }
}

/** The used part of React and @react-pdf/renderer. */
type React = { createElement: (type: unknown, properties: object | null, ...children: unknown[]) => unknown }
type ReactPdf = {
  Document: unknown
  Page: unknown
  View: unknown
  Text: unknown
  Font: { register: (font: object) => void }
  renderToBuffer: (element: unknown) => Promise<Uint8Array>
}

async function reactPdf (): Promise<Make> {
  const load = async (name: string): Promise<unknown> => await import(fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url)))
  const { createElement: h } = createRequire(import.meta.url)('react') as React
  const { Document, Page, View, Text, Font, renderToBuffer } = await load('@react-pdf/renderer/lib/react-pdf.js') as ReactPdf
  Font.register({ family: 'Sans', fonts: [{ src: fonts.normal }, { src: fonts.bold, fontWeight: 'bold' }] })
  const text = (words: string, style: object = {}): unknown => h(Text, { style }, words)
  const bold = { fontWeight: 'bold' }
  const row = (cells: readonly string[], widths: readonly number[], style: object = {}): unknown =>
    h(View, { style: { flexDirection: 'row', ...style }, wrap: false }, ...cells.map((cell, index) =>
      text(cell, { width: widths[index], textAlign: index === 0 ? 'left' : 'right' })
    ))
  const facts = (pairs: string[][]): unknown =>
    h(View, {}, ...pairs.map((pair) => h(View, { style: { flexDirection: 'row' } }, ...pair.map((words) => text(words, { width: 90 })))))
  return async (invoice) =>
    await renderToBuffer(
      h(Document, {},
        h(Page, { size: 'A4', style: { fontFamily: 'Sans', fontSize: 8.5, padding: 51 } },
          h(View, { style: { flexDirection: 'row', justifyContent: 'space-between' } },
            h(View, {}, text('Invoice', { ...bold, fontSize: 17 }), text(invoice.number)),
            text(`${invoice.seller.name}\n${sellerOf(invoice)}`, { textAlign: 'right' })),
          h(View, { style: { flexDirection: 'row', justifyContent: 'space-between', marginVertical: 20 } },
            h(View, {}, text('Bill to'), text(invoice.customer.name, bold), text(customerOf(invoice))), facts(factsOf(invoice))),
          row(headers, widths, bold),
          ...rowsOf(invoice).map((cells) => row(cells, widths, { borderTop: '0.4 solid #d5dbe1', paddingVertical: 3.5 })),
          h(View, { style: { marginLeft: 271 } }, ...totalsOf(invoice).map((pair) => row(pair, [120, 75]))),
          h(View, { style: { flexDirection: 'row', marginVertical: 18 } },
            h(View, { style: { width: 250 } }, text('Bank details', bold), facts(bankOf(invoice))),
            h(View, {}, text('Payment terms', bold), text(invoice.paymentTerms))), text('Notes', bold), text(invoice.notes),
          text(invoice.conditions, { fontSize: 7 }), h(View, {
            fixed: true,
            style: { position: 'absolute', bottom: 30, left: 51, right: 51, flexDirection: 'row', justifyContent: 'space-between' }
          }, text(`${invoice.seller.name} · VAT ${invoice.seller.vatId}`), h(Text, {
            render: ({ pageNumber, totalPages }: { pageNumber: number, totalPages: number }) =>
              `Invoice ${invoice.number} · Page ${String(pageNumber)} of ${String(totalPages)}`
          }))))
    )
}
