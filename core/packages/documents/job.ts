import type { Problem } from '@dispatch/common'
import type { formats } from './formats/all.ts'
import type { FileFormat, Format } from './formats/file-formats.ts'
import type { TemplateSource } from './model/model.ts'
import type { PaperSize } from './model/paper.ts'

type All = typeof formats
type Made<F extends Format> = Awaited<ReturnType<Awaited<ReturnType<All[F]['make']>>['make']>>

/** The result for each format: what its folder makes, and of a file its content type. The bytes in it own their memory. */
export type RenderedFormats = {
  [F in Format]: F extends FileFormat ? Made<F> & { contentType: string } : Made<F>
}

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
