import type { Problem } from '@dispatch/common'
import type { File } from '../model/file-formats.ts'
import type { TemplateSource } from '../model/model.ts'
import type { PaperSize } from '../model/paper.ts'
import type { HtmlMessage } from './html.ts'
import type { Pdf } from './pdf.ts'

/** The result for each format. The bytes in it own their memory. */
export type RenderedFormats = {
  pdf: Pdf & File<'pdf'>
  docx: File<'docx'>
  xlsx: File<'xlsx'>
  'factur-x': Pdf & File<'factur-x'>
  ubl: File<'ubl'>
  cii: File<'cii'>
  /** An e-mail: HTML, its plain-text alternative and its pictures. */
  html: HtmlMessage
  /** A message, such as an SMS. */
  text: { text: string }
}
/** The name of a format. */
export type Format = keyof RenderedFormats

/** The input of the renderer. It is plain data, because it is sent to another thread. */
export type RenderJob<F extends Format = Format> = {
  /** `digest` identifies the content: templates with the same digest are compiled once. */
  template: { id: number, version: number, digest: string, source: TemplateSource }
  /** JSON. */
  data: unknown
  format: F
  /** The date inside the document, RFC 3339. The same job gives the same bytes. */
  now: string
  /**
   * The names of the signers in their order. Each gets a place to sign; if the template has none for a signer, it is on a page at the end.
   */
  signers?: readonly string[]
  /** The paper for a page size of `auto`. */
  paper?: PaperSize
}

/** A document in its format. */
export type Rendered<F extends Format = Format> = RenderedFormats[F]

/** A worker's answer. An error of the data is an answer too. */
export type RenderResult<F extends Format = Format> = { ok: true, rendered: Rendered<F> } | { ok: false, problems: readonly Problem[] }
