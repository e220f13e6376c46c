import { EncryptedPDFError, PDFArray, PDFDict, PDFDocument, PDFName, PDFNumber } from '@cantoo/pdf-lib'
import type { Problem } from '@dispatch/common'

/** Why a PDF cannot be used. */
export type PdfFault = { ok: false, problem: Omit<Problem, 'path'> }

/**
 * Opens a PDF and uses it, or says why not. Whatever `use` throws is a fault of the PDF: what is wrong in one is often found when it is
 * looked for. `so`: what follows from that, such as "it cannot be joined with others".
 */
export async function openPdf<Result> (
  bytes: Uint8Array,
  so: string,
  use: (pdf: PDFDocument) => Result | Promise<Result>
): Promise<Result | PdfFault> {
  try {
    const pdf = await PDFDocument.load(bytes, { updateMetadata: false })
    if (pdf.getPageCount() === 0) return unusable('unreadable_pdf', `The PDF has no pages: ${so}.`)
    return await use(pdf)
  } catch (error) {
    return error instanceof EncryptedPDFError
      ? unusable('encrypted_pdf', `The PDF is encrypted: ${so}.`)
      : unusable('unreadable_pdf', `The PDF cannot be read: ${so}.`)
  }
}

export function unusable (code: string, message: string): PdfFault {
  return { ok: false, problem: { code, message } }
}

/** The bit of /SigFlags that says that something in the document is signed (ISO 32000-1, table 219). */
const signaturesExist = 1

/** Whether somebody has signed the PDF: a change breaks what they have signed. */
export function isSigned ({ catalog, context }: PDFDocument): boolean {
  if (catalog.has(PDFName.of('Perms'))) return true
  const form = catalog.lookupMaybe(PDFName.of('AcroForm'), PDFDict)
  const flags = form?.lookupMaybe(PDFName.of('SigFlags'), PDFNumber)?.asNumber() ?? 0
  const isFlagged = (flags & signaturesExist) !== 0
  // The flag is also set where there is only a field for a signature, and some programs do not set it; what is signed has a byte range.
  return context.enumerateIndirectObjects().some(([, object]) =>
    object instanceof PDFDict && ((isFlagged && hasByteRange(object)) || hasByteRange(object.lookup(PDFName.of('V'))))
  )
}

function hasByteRange (object: unknown): boolean {
  return object instanceof PDFDict && object.lookup(PDFName.of('ByteRange')) instanceof PDFArray
}
