import type { Problem } from '@dispatch/common'
import type { File } from '../model/file-formats.ts'
import type { TemplateSource } from '../model/model.ts'
import type { PaperSize } from '../model/paper.ts'
import type { HtmlMessage } from './html.ts'
import type { Pdf } from './pdf.ts'

/** What each format gives. The bytes in it own their memory. */
export type RenderedFormats = {
  pdf: Pdf & File<'pdf'>
  docx: File<'docx'>
  xlsx: File<'xlsx'>
  'factur-x': Pdf & File<'factur-x'>
  ubl: File<'ubl'>
  cii: File<'cii'>
  /** A mail: HTML, its plain-text alternative and its pictures. */
  html: HtmlMessage
  /** A message, such as an SMS. */
  text: { text: string }
}
export type Format = keyof RenderedFormats

/** What the renderer makes a document of; plain data, because it travels to another thread. */
export type RenderJob<F extends Format = Format> = {
  /** `digest` names the content: a template with the same digest is compiled once. */
  template: { id: number, version: number, digest: string, source: TemplateSource }
  /** JSON. */
  data: unknown
  format: F
  /** The date inside the document, RFC 3339: the same job gives the same bytes. */
  now: string
  /** Who signs, by name and in their order: each gets a place to sign, on a page at the end where the template has none. */
  signers?: readonly string[]
  /** Of a page whose size is `auto`. */
  paper?: PaperSize
}

/** A document in its format. */
export type Rendered<F extends Format = Format> = RenderedFormats[F]

/** What a worker answers: errors of the data are an answer like any other. */
export type RenderResult<F extends Format = Format> = { ok: true, rendered: Rendered<F> } | { ok: false, problems: readonly Problem[] }
