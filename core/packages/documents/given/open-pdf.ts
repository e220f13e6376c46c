import { EncryptedPDFError, PDFArray, PDFDict, PDFDocument, PDFName, PDFNumber } from '@cantoo/pdf-lib'
import type { Problem } from '@dispatch/common'

/** Opens a PDF, or says why not. `so`: what follows from that, such as "it cannot be joined with others". */
export async function openPdf (bytes: Uint8Array, so: string): Promise<PDFDocument | Omit<Problem, 'path'>> {
  try {
    const pdf = await PDFDocument.load(bytes, { updateMetadata: false })
    if (pdf.getPageCount() === 0) return { code: 'unreadable_pdf', message: `The PDF has no pages: ${so}.` }
    return pdf
  } catch (error) {
    return error instanceof EncryptedPDFError
      ? { code: 'encrypted_pdf', message: `The PDF is encrypted: ${so}.` }
      : { code: 'unreadable_pdf', message: `The PDF cannot be read: ${so}.` }
  }
}

/** The bit of /SigFlags that says that something in the document is signed (ISO 32000-1, table 219). */
const signaturesExist = 1

/** Whether somebody has signed the PDF: a change breaks what they have signed. */
export function isSigned ({ catalog, context }: PDFDocument): boolean {
  if (catalog.has(PDFName.of('Perms'))) return true
  const form = catalog.lookupMaybe(PDFName.of('AcroForm'), PDFDict)
  const flags = form?.lookupMaybe(PDFName.of('SigFlags'), PDFNumber)?.asNumber() ?? 0
  if ((flags & signaturesExist) === 0) return false
  // The flag is also set where there is only a field for a signature; what is signed has a byte range.
  return context.enumerateIndirectObjects().some(([, object]) =>
    object instanceof PDFDict && object.lookup(PDFName.of('ByteRange')) instanceof PDFArray
  )
}
