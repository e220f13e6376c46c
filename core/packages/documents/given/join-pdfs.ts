import { type PDFDocument, PDFName, PDFNumber } from '@cantoo/pdf-lib'
import type { Problem } from '@dispatch/common'
import { isSigned, openPdf, type PdfFault, unusable } from './open-pdf.ts'

/** A page as it is shown, in points. `plain`: it is neither turned, cropped nor scaled, so that every program measures it alike. */
export type PdfPage = { width: number, height: number, plain: boolean }

/** The pages of a PDF, and whether somebody has signed it; or why it cannot be read. */
export type PdfReading = { ok: true, pages: PdfPage[], signed: boolean } | PdfFault

/** PDFs as one, in memory of its own; or why there is none, and which of them is at fault: without an index, all of them together. */
export type JoinedPdf = { ok: true, bytes: Uint8Array<ArrayBuffer>, pages: number } | {
  ok: false
  index?: number
  problem: Omit<Problem, 'path'>
}

/** The most pages that a PDF may have, and PDFs that are joined. */
const maxPages = 2000

/** Reads the pages of a PDF. */
export async function readPdf (bytes: Uint8Array): Promise<PdfReading> {
  return openPdf<PdfReading>(bytes, 'it can be neither printed nor signed', (pdf) => {
    const count = pdf.getPageCount()
    return count > maxPages
      ? unusable('too_large', `The PDF has ${count} pages, of ${maxPages} at most.`)
      : { ok: true, pages: pdf.getPages().map(shownPage), signed: isSigned(pdf) }
  })
}

function shownPage (page: ReturnType<PDFDocument['getPage']>): PdfPage {
  const [media, crop, turned] = [page.getMediaBox(), page.getCropBox(), page.getRotation().angle % 360 !== 0]
  const isWhole = crop.x === media.x && crop.y === media.y && crop.width === media.width && crop.height === media.height
  const isAcross = page.getRotation().angle % 180 !== 0
  return {
    width: isAcross ? crop.height : crop.width,
    height: isAcross ? crop.width : crop.height,
    plain: isWhole && !turned && media.x === 0 && media.y === 0 && !isScaled(page)
  }
}

/** Whether the units of a page are others than points (ISO 32000-1, table 30), which many programs do not heed. */
function isScaled ({ node }: ReturnType<PDFDocument['getPage']>): boolean {
  return (node.lookupMaybe(PDFName.of('UserUnit'), PDFNumber)?.asNumber() ?? 1) !== 1
}

/** Joins PDFs in their order. The first stays what it is, and the pages of the others follow. The same PDFs give the same bytes. */
export async function joinPdfs (pdfs: readonly Uint8Array[]): Promise<JoinedPdf> {
  let whole: PDFDocument | undefined
  for (const [index, bytes] of pdfs.entries()) {
    const before = whole
    const longer = await openPdf(bytes, 'it cannot be joined with others', (pdf) => append(before, pdf))
    if (!longer.ok) return { ...longer, index }
    whole = longer.whole
  }
  if (whole === undefined) throw new Error('There are no PDFs to join.')
  return { ok: true, bytes: Uint8Array.from(await whole.save({ updateFieldAppearances: false })), pages: whole.getPageCount() }
}

/** A PDF with the pages of another one behind its own; without one, that other one itself. */
async function append (whole: PDFDocument | undefined, pdf: PDFDocument): Promise<{ ok: true, whole: PDFDocument } | PdfFault> {
  if (isSigned(pdf)) return unusable('signed_pdf', 'The PDF is signed: joined with others, it would not be any more.')
  const count = (whole?.getPageCount() ?? 0) + pdf.getPageCount()
  if (count > maxPages) return unusable('too_large', `With it there are ${count} pages, of ${maxPages} at most.`)
  if (whole === undefined) return { ok: true, whole: pdf }
  for (const page of await whole.copyPages(pdf, pdf.getPageIndices())) whole.addPage(page)
  return { ok: true, whole }
}
