import type { EInvoiceFormat } from '@dispatch/einvoice'

/** The formats of document files, with their extensions and content types. */
export const fileFormats = {
  pdf: { extension: 'pdf', contentType: 'application/pdf' },
  docx: { extension: 'docx', contentType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' },
  xlsx: { extension: 'xlsx', contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  /** A PDF/A-3 that contains the invoice as XML. */
  'factur-x': { extension: 'pdf', contentType: 'application/pdf' },
  ubl: { extension: 'xml', contentType: 'application/xml' },
  cii: { extension: 'xml', contentType: 'application/xml' }
} as const
/** One of {@link fileFormats}. */
export type FileFormat = keyof typeof fileFormats

/** A document as a file. The bytes own their memory, so that they can be transferred to another thread. */
export type File<F extends FileFormat = FileFormat> = { bytes: Uint8Array<ArrayBuffer>, contentType: typeof fileFormats[F]['contentType'] }

/** A file of these bytes. */
export function fileOf<F extends FileFormat> (format: F, bytes: Uint8Array<ArrayBuffer>): File<F> {
  return { bytes, contentType: fileFormats[format].contentType }
}

/** The formats of e-invoices, made of invoice data as in EN 16931. */
export const eInvoiceFileFormats = { 'factur-x': 'FACTUR_X', ubl: 'UBL', cii: 'CII' } as const satisfies Partial<
  Record<FileFormat, EInvoiceFormat>
>

/** The formats that every template can produce, by the names of the API. */
export const templateFormats: readonly string[] = [...Object.keys(fileFormats).filter((name) => !(name in eInvoiceFileFormats)), 'html']
  .map((name) => name.toUpperCase())
