import { create } from 'fontkit'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import PDFDocument from 'pdfkit'
import { transferText } from '../../../core/packages/documents/code/epc.ts'
import { qrModules } from '../../../core/packages/documents/code/qr.ts'
import { formatCountry, formatDate, formatMoney, formatNumber, formatPercent } from '../../../core/packages/documents/compile/format.ts'
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

const [left, right, top, bottom] = [56.7, 538.6, 51, 784]
const columns = [
  { x: 56.7, width: 246.4 },
  { x: 313.1, width: 44.5 },
  { x: 367.6, width: 58.8 },
  { x: 436.4, width: 28.6 },
  { x: 475, width: 63.6 }
] as const
const [accent, muted, hairline] = ['#1d4e89', '#66727f', '#d5dbe1'] as const

/**
 * The pages of `templates/invoice`, written directly with pdfkit: text at its place, a loop for the rows. They show what the template shows
 * for the sample, in the same fonts and sizes.
 */
export async function invoiceByHand (invoice: SampleInvoice, fonts: Fonts, now: Date): Promise<{ bytes: Uint8Array, pages: number }> {
  const pdf = new PDFDocument({
    size: 'A4',
    margin: 0,
    bufferPages: true,
    font: '',
    lang: 'en-GB',
    displayTitle: true,
    info: { Title: `Invoice ${invoice.number}`, Author: invoice.seller.name, CreationDate: now }
  })
  const bytes = buffer(pdf)
  for (const [name, font] of Object.entries(fonts)) pdf.registerFont(name, font as Buffer, name)
  drawHead(pdf, invoice)
  const rowsEnd = drawRows(pdf, invoice, drawTableHead(pdf, 286))
  drawTail(pdf, invoice, drawTotals(pdf, invoice, rowsEnd))
  const pages = pdf.bufferedPageRange().count
  for (let page = 0; page < pages; page++) {
    pdf.switchToPage(page)
    drawEdges(pdf, invoice, page + 1, pages)
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
  { bold = false, size = 8, color = '#1f2933', align = 'left' }: Look = {}
): number {
  pdf.font(bold ? 'bold' : 'regular', size).fillColor(color).text(text, x, y, { width, align, lineGap: size * 0.186 })
  return pdf.y
}

function rule (pdf: Pdf, x: number, y: number, width: number, thickness: number, color: string): void {
  pdf.moveTo(x, y).lineTo(x + width, y).lineWidth(thickness).strokeColor(color).stroke()
}

/** Labels in a column, and their values beside them. */
function drawFacts (pdf: Pdf, facts: readonly (readonly [label: string, value: string])[], x: number, y: number, valueX: number): void {
  for (const [index, [label, value]] of facts.entries()) {
    write(pdf, label, x, y + index * 10.8, valueX - x, { color: muted })
    write(pdf, value, valueX, y + index * 10.8, 150)
  }
}

function drawHead (pdf: Pdf, { number, date, dueDate, reference, seller, customer }: SampleInvoice): void {
  write(pdf, seller.name, left, 52, 283, { bold: true, size: 13, color: accent })
  const city = (party: Party): string => `${party.postalCode} ${party.city}`
  const letterhead = [seller.address, city(seller), formatCountry(seller.country, 'en-GB'), seller.phone, seller.email]
  write(pdf, letterhead.join('\n'), 350, 51.5, right - 350, { size: 7.5, color: muted, align: 'right' })
  write(pdf, `${seller.name} · ${seller.address} · ${city(seller)}`, 70.9, 168.5, 227, { size: 6, color: muted })
  write(pdf, customer.name, 70.9, 178, 227, { bold: true })
  write(pdf, [customer.address, city(customer), formatCountry(customer.country, 'en-GB')].join('\n'), 70.9, 187.5, 227)
  write(pdf, 'Invoice', 354.3, 143, 184, { bold: true, size: 16, color: accent })
  drawFacts(pdf, [
    ['Number', number],
    ['Date', formatDate(date, 'en-GB')],
    ['Due date', formatDate(dueDate, 'en-GB')],
    ['Reference', reference],
    ['Your VAT ID', customer.vatId],
    ['E-mail', customer.email]
  ], 354.3, 169, 421.1)
}

function drawTableHead (pdf: Pdf, y: number): number {
  for (const [index, label] of ['Description', 'Quantity', 'Unit price', 'Tax', 'Amount'].entries()) {
    const { x, width } = columns[index] ?? columns[0]
    write(pdf, label, x, y + 3.5, width, { bold: true, size: 7.36, color: accent, align: index === 0 ? 'left' : 'right' })
  }
  rule(pdf, left, y + 15, right - left, 0.8, accent)
  return y + 15
}

function drawRows (pdf: Pdf, { lines }: SampleInvoice, start: number): number {
  let y = start
  for (const { description, quantity, unitPrice, taxRate, total } of lines) {
    pdf.font('regular', 8)
    const height = pdf.heightOfString(description, { width: columns[0].width, lineGap: 1.49 }) + 7
    if (y + height > bottom - 30) {
      pdf.addPage()
      y = drawTableHead(pdf, top + 18)
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
    rule(pdf, left, y, right - left, 0.4, hairline)
  }
  return y
}

function drawTotals (pdf: Pdf, { subtotal, taxRate, taxAmount, total }: SampleInvoice, start: number): number {
  let y = start
  if (y > bottom - 90) {
    pdf.addPage()
    y = top + 18
  }
  const totals = [['Subtotal', subtotal, false], [`Tax ${formatPercent(taxRate, 'en-GB')}`, taxAmount, false], ['Total', total,
    true]] as const
  for (const [label, amount, bold] of totals) {
    if (bold) rule(pdf, 321.7, y, right - 321.7, 0.8, accent)
    const look = { bold, size: bold ? 9.2 : 8 }
    write(pdf, label, 321.7, y + 3.5, 110, look)
    write(pdf, formatMoney(amount, 'EUR', 'en-GB'), 442.2, y + 3.5, right - 442.2, { ...look, align: 'right' })
    y += 17.8
  }
  return y
}

function drawTail (pdf: Pdf, invoice: SampleInvoice, start: number): void {
  const { number, bankDetails: { accountHolder, iban, bic, bank }, paymentTerms, notes, conditions } = invoice
  let y = start + 14
  if (y > bottom - 150) {
    pdf.addPage()
    y = top + 18
  }
  write(pdf, 'Bank details', left, y, 230, { bold: true, size: 9.2 })
  drawFacts(pdf, [['Pay to', accountHolder], ['IBAN', iban], ['BIC', bic], ['Bank', bank], ['Reference', number]], left, y + 17, 115.1)
  write(pdf, 'Payment terms', 309.1, y, 140, { bold: true, size: 9.2 })
  write(pdf, paymentTerms, 309.1, y + 17, 140)
  drawCode(pdf, invoice, 464.9, y, 73.7)
  write(pdf, 'Scan to pay', 464.9, y + 74, 73.7, { size: 6.4, align: 'right' })
  write(pdf, 'Notes', left, y + 93, right - left, { bold: true, size: 9.2 })
  write(pdf, notes, left, y + 110, right - left)
  write(pdf, conditions, left, y + 126, right - left, { size: 7, color: muted })
}

/** The QR code of the payment, a rectangle for each bar of a row. */
function drawCode (
  pdf: Pdf,
  { bankDetails: { iban, bic, accountHolder }, total, number }: SampleInvoice,
  x: number,
  y: number,
  side: number
): void {
  const modules = qrModules(transferText({ iban, bic, name: accountHolder, amount: total, remittance: number }))
  if (typeof modules === 'string') throw new Error(modules)
  const module = side / modules.columns
  pdf.rect(x, y, side, side).fill('#ffffff')
  for (const bar of modules.dark) pdf.rect(x + bar.x * module, y + bar.y * module, bar.width * module, module)
  pdf.fill('#000000')
}

function drawEdges (pdf: Pdf, { number, seller }: SampleInvoice, page: number, pages: number): void {
  if (page > 1) {
    write(pdf, seller.name, left, top, 240, { size: 7, color: muted })
    write(pdf, `Invoice ${number}`, 298, top, right - 298, { size: 7, color: muted, align: 'right' })
  }
  rule(pdf, left, 794, right - left, 0.4, hairline)
  write(pdf, `${seller.name} · VAT ${seller.vatId}`, left, 799.5, 400, { size: 6.5, color: muted })
  write(pdf, `Page ${page} of ${pages}`, 460, 799.5, right - 460, { size: 6.5, color: muted, align: 'right' })
}
