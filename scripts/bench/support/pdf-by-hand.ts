import { create } from 'fontkit'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import PDFDocument from 'pdfkit'
import { formatDate, formatMoney, formatNumber, formatPercent } from '../../../core/packages/documents/compile/format.ts'
import { facesFor } from '../../../core/packages/documents/layout/fonts.ts'

/** The regular and the bold font in pdfkit's form. */
export type Fonts = { regular: object, bold: object }

/** Fonts that are parsed once per process, without further caches. */
export function plainFonts (): Fonts {
  const open = (name: string): object => create(readFileSync(createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)))
  return { regular: open('DejaVuSans'), bold: open('DejaVuSans-Bold') }
}

/** The fonts of the block model, with their cache of layouts and their own subsets. */
export function ourFonts (): Fonts {
  const font = (bold: boolean): object => facesFor('sans', { bold }).first.font
  return { regular: font(false), bold: font(true) }
}

type Line = { description: string, quantity: string | number, unitPrice: string, taxRate: number, total: string }
type Party = Record<'name' | 'address' | 'postalCode' | 'city' | 'country' | 'vatId' | 'email' | 'phone', string>
export type SampleInvoice = {
  number: string
  date: string
  dueDate: string
  reference: string
  seller: Party
  customer: Party
  lines: Line[]
  subtotal: string
  taxRate: number
  taxAmount: string
  total: string
  paymentTerms: string
  notes: string
  conditions: string
  bankDetails: Record<'accountHolder' | 'iban' | 'bic' | 'bank', string>
}

/** The sample with so many lines, and with different words and amounts for every seed. */
export function sampleInvoiceOf (sample: Record<string, unknown>, lines: number, seed: number): SampleInvoice {
  const invoice = structuredClone(sample) as SampleInvoice
  const first = invoice.lines
  return {
    ...invoice,
    number: `2026-${String(seed)}`,
    customer: { ...invoice.customer, name: `Customer ${String(seed)} & Sons` },
    lines: Array.from({ length: lines }, (_, index) => {
      const line = first[index % first.length]
      if (line === undefined) throw new Error('The sample has no lines.')
      return {
        ...line,
        description: `${line.description} ${String((seed * 7 + index) % 500)}`,
        total: String((seed * 31 + index * 17) % 9_999)
      }
    })
  }
}

const [left, right, top, bottom] = [51, 544, 51, 780]
const columns = [{ x: 51, width: 237 }, { x: 298, width: 46 }, { x: 354, width: 73 }, { x: 437, width: 30 }, { x: 464, width: 80 }] as const

/** The pages of `templates/invoice`, written directly with pdfkit: text at its place, a loop for the rows. */
export async function invoiceByHand (invoice: SampleInvoice, fonts: Fonts, now: Date): Promise<{ bytes: Uint8Array, pages: number }> {
  const pdf = new PDFDocument({
    size: 'A4',
    margin: 0,
    bufferPages: true,
    font: '',
    info: { Title: `Invoice ${invoice.number}`, CreationDate: now }
  })
  const bytes = buffer(pdf)
  for (const [name, font] of Object.entries(fonts)) pdf.registerFont(name, font as Buffer, name)
  drawHead(pdf, invoice)
  const rowsEnd = drawRows(pdf, invoice, drawTableHead(pdf, 245))
  drawTail(pdf, invoice, drawTotals(pdf, invoice, rowsEnd))
  const pages = pdf.bufferedPageRange().count
  for (let page = 0; page < pages; page++) {
    pdf.switchToPage(page)
    drawFooter(pdf, invoice, page + 1, pages)
  }
  pdf.end()
  return { bytes: await bytes, pages }
}

type Pdf = PDFKit.PDFDocument
type Look = { bold?: boolean, size?: number, color?: string, align?: 'left' | 'right' }

function write (
  pdf: Pdf,
  text: string,
  x: number,
  y: number,
  width: number,
  { bold = false, size = 8.5, color = '#1f2933', align = 'left' }: Look = {}
): number {
  pdf.font(bold ? 'bold' : 'regular', size).fillColor(color).text(text, x, y, { width, align, lineGap: size * 0.186 })
  return pdf.y
}

function rule (pdf: Pdf, x: number, y: number, width: number, thickness: number, color: string): void {
  pdf.moveTo(x, y).lineTo(x + width, y).lineWidth(thickness).strokeColor(color).stroke()
}

function drawHead (pdf: Pdf, { number, date, dueDate, reference, seller, customer }: SampleInvoice): void {
  write(pdf, 'Invoice', left, top, 290, { bold: true, size: 17, color: '#1d4e89' })
  write(pdf, number, left, 80, 290, { size: 11, color: '#66727f' })
  write(pdf, seller.name, 350, top, 194, { bold: true, align: 'right' })
  write(pdf, [seller.address, `${seller.postalCode} ${seller.city}`, seller.country, seller.email, seller.phone].join('\n'), 350, 62, 194, {
    align: 'right'
  })
  write(pdf, 'Bill to', left, 143, 290, { size: 7.5, color: '#66727f' })
  write(pdf, customer.name, left, 157, 290, { bold: true })
  write(pdf,
    [customer.address, `${customer.postalCode} ${customer.city}`, customer.country, `VAT ${customer.vatId}`, customer.email].join('\n'),
    left, 168, 290)
  const facts = [
    ['Invoice number', number],
    ['Invoice date', formatDate(date, 'en-GB')],
    ['Due date', formatDate(dueDate, 'en-GB')],
    ['Reference', reference]
  ] as const
  for (const [index, [label, value]] of facts.entries()) {
    write(pdf, label, 358, 143 + index * 11.5, 75, { color: '#66727f' })
    write(pdf, value, 437, 143 + index * 11.5, 107)
  }
}

function drawTableHead (pdf: Pdf, y: number): number {
  for (const [index, label] of ['Description', 'Quantity', 'Unit price', 'Tax', 'Amount'].entries()) {
    const { x, width } = columns[index] ?? columns[0]
    write(pdf, label, x, y + 3.5, width, { bold: true, size: 7.8, color: '#1d4e89', align: index === 0 ? 'left' : 'right' })
  }
  rule(pdf, left, y + 17.5, right - left, 0.8, '#1d4e89')
  return y + 17.5
}

function drawRows (pdf: Pdf, { lines }: SampleInvoice, start: number): number {
  let y = start
  for (const { description, quantity, unitPrice, taxRate, total } of lines) {
    pdf.font('regular', 8.5)
    const height = pdf.heightOfString(description, { width: columns[0].width, lineGap: 1.58 }) + 7
    if (y + height > bottom - 30) {
      pdf.addPage()
      y = drawTableHead(pdf, top)
    }
    const cells = [
      description,
      formatNumber(quantity, 'en-GB'),
      formatMoney(unitPrice, 'EUR', 'en-GB', 4),
      formatPercent(taxRate, 'en-GB'),
      formatMoney(total, 'EUR', 'en-GB')
    ]
    for (const [index, cell] of cells.entries()) {
      const { x, width } = columns[index] ?? columns[0]
      write(pdf, cell, x, y + 3.5, width, { align: index === 0 ? 'left' : 'right' })
    }
    y += height
    rule(pdf, left, y, right - left, 0.4, '#d5dbe1')
  }
  return y
}

function drawTotals (pdf: Pdf, { subtotal, taxRate, taxAmount, total }: SampleInvoice, start: number): number {
  let y = start
  if (y > bottom - 90) {
    pdf.addPage()
    y = top
  }
  const totals = [
    ['Subtotal', subtotal, false],
    [`Tax ${formatPercent(taxRate, 'en-GB')}`, taxAmount, false],
    [
      'Total',
      total,
      true
    ]
  ] as const
  for (const [label, amount, bold] of totals) {
    if (bold) rule(pdf, 322, y, right - 322, 0.8, '#1d4e89')
    const look = { bold, size: bold ? 9.8 : 8.5 }
    write(pdf, label, 322, y + 3.5, 120, look)
    write(pdf, formatMoney(amount, 'EUR', 'en-GB'), 444, y + 3.5, 100, { ...look, align: 'right' })
    y += 18.5
  }
  return y
}

function drawTail (pdf: Pdf, { number, bankDetails, paymentTerms, notes, conditions }: SampleInvoice, start: number): void {
  let y = start + 18
  if (y > bottom - 150) {
    pdf.addPage()
    y = top
  }
  write(pdf, 'Bank details', left, y, 230, { bold: true, size: 9.8 })
  write(pdf, 'Payment terms', 312, y, 230, { bold: true, size: 9.8 })
  write(pdf, paymentTerms, 312, y + 18, 230)
  const facts = [
    ['Account holder', bankDetails.accountHolder],
    ['IBAN', bankDetails.iban],
    ['BIC', bankDetails.bic],
    [
      'Bank',
      bankDetails.bank
    ],
    ['Reference', number]
  ] as const
  for (const [index, [label, value]] of facts.entries()) {
    write(pdf, label, left, y + 18 + index * 11.5, 75, { color: '#66727f' })
    write(pdf, value, 134, y + 18 + index * 11.5, 150)
  }
  write(pdf, 'Notes', left, y + 86, 493, { bold: true, size: 9.8 })
  write(pdf, notes, left, y + 103, 493)
  write(pdf, conditions, left, y + 125, 493, { size: 7, color: '#66727f' })
}

function drawFooter (pdf: Pdf, { number, seller }: SampleInvoice, page: number, pages: number): void {
  rule(pdf, left, 787, right - left, 0.4, '#66727f')
  write(pdf, `${seller.name} · VAT ${seller.vatId}`, left, 792, 320, { size: 7, color: '#66727f' })
  write(pdf, `Invoice ${number} · Page ${String(page)} of ${String(pages)}`, 384, 792, 160, { size: 7, color: '#66727f', align: 'right' })
}
