import type { EInvoiceFormat } from '@dispatch/einvoice'

/** The formats in which a document is a file: its extension, and the content type of its bytes. */
export const fileFormats = {
  pdf: { extension: 'pdf', contentType: 'application/pdf' },
  docx: { extension: 'docx', contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' },
  xlsx: { extension: 'xlsx', contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  /** A PDF/A-3 with the invoice inside. */
  'factur-x': { extension: 'pdf', contentType: 'application/pdf' },
  ubl: { extension: 'xml', contentType: 'application/xml' },
  cii: { extension: 'xml', contentType: 'application/xml' }
} as const
export type FileFormat = keyof typeof fileFormats

/** A document as a file. The bytes own their memory, so that they can be moved to another thread. */
export type File<F extends FileFormat = FileFormat> = { bytes: Uint8Array<ArrayBuffer>, contentType: typeof fileFormats[F]['contentType'] }

/** A file of these bytes. */
export function fileOf<F extends FileFormat> (format: F, bytes: Uint8Array<ArrayBuffer>): File<F> {
  return { bytes, contentType: fileFormats[format].contentType }
}

/** The formats that are e-invoices: made of the data of an invoice, as EN 16931 has it. */
export const eInvoiceFileFormats = { 'factur-x': 'FACTUR_X', ubl: 'UBL', cii: 'CII' } as const satisfies Partial<
  Record<FileFormat, EInvoiceFormat>
>

/** What any template can be made into, as the API names it. */
export const templateFormats: readonly string[] = [...Object.keys(fileFormats).filter((name) => !(name in eInvoiceFileFormats)), 'html']
  .map((name) => name.toUpperCase())
