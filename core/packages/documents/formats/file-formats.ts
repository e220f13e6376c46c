import type { EInvoiceFormat } from '@dispatch/einvoice'
import { formats } from './all.ts'
import type { FormatFacts } from './format.ts'

type All = typeof formats
/** The name of a format. */
export type Format = keyof All

/** The facts of each format, by its name. */
export const formatFacts: Readonly<Record<Format, FormatFacts>> = formats
const all = Object.keys(formats) as readonly Format[]

/** The formats of document files. */
export type FileFormat = { [F in Format]: All[F] extends { file: unknown } ? F : never }[Format]

export function isFileFormat (format: Format): format is FileFormat {
  return formatFacts[format].file !== undefined
}

/** Their extensions and content types. */
export const fileFormats = Object.fromEntries(all.filter(isFileFormat).map((format) => [format, formats[format].file])) as {
  readonly [F in FileFormat]: All[F]['file']
}

/** The formats that clients ask for, by the names of the API. */
export type ApiFormat = { [F in Format]: All[F] extends { apiName: infer Name } ? Name : never }[Format]
export const apiFormats = Object.fromEntries(all.flatMap((format) => {
  const name = apiNameOf(format)
  return name === undefined ? [] : [[name, format]]
})) as Readonly<Record<ApiFormat, Format>>

/** The name by which clients ask for a format; undefined where only services do. */
export function apiNameOf (format: Format): ApiFormat | undefined {
  return formatFacts[format].apiName as ApiFormat | undefined
}

/** Those of them that are files. */
export type ApiFileFormat = { [F in FileFormat]: All[F] extends { apiName: infer Name } ? Name : never }[FileFormat]
export const apiFileFormats = Object.fromEntries(
  Object.entries<Format>(apiFormats).filter(([, format]) => isFileFormat(format))
) as Readonly<
  Record<ApiFileFormat, FileFormat>
>

/** The formats of e-invoices, made of invoice data as in EN 16931. */
type EInvoiceFile = { [F in FileFormat]: All[F] extends { eInvoice: EInvoiceFormat } ? F : never }[FileFormat]

export const eInvoiceFileFormats = Object.fromEntries(all.flatMap((format) => {
  const { eInvoice } = formatFacts[format]
  return eInvoice === undefined ? [] : [[format, eInvoice]]
})) as Readonly<Record<EInvoiceFile, EInvoiceFormat>>

/** The formats of files that can be printed, and those in which places can be signed. */
export const printedFormats = all.filter(isFileFormat).filter((format) => formatFacts[format].pages === 'fixed')
export const signedFormats = all.filter(isFileFormat).filter((format) => formatFacts[format].signed === true)

/** The format of a document, of a mail and of a message for which nobody asks for another. */
export const usualFormats = { document: formats.pdf.name, mail: formats.html.name, message: formats.text.name } as const
/** That of a document, by its name in the API. */
export const usualApiFormat = formats.pdf.apiName

/** The formats that every template can produce, by the names of the API; of messages, those that have a look. */
export const templateFormats: readonly string[] = Object.entries<Format>(apiFormats).filter(([, format]) => format !== usualFormats.message)
  .map(([name]) => name)

/** Whether the document has pages from the template: an e-invoice that is XML only has none. */
export function showsPage (format: Format): boolean {
  return formatFacts[format].pages !== 'none'
}
