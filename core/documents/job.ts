import type { Problem } from '../contract/errors.ts'
import type { TemplateSource } from './model.ts'

/** What the renderer makes a document of; plain data, because it travels to another thread. */
export type RenderJob = {
  /** `digest` names the content: a template with the same digest is compiled once. */
  template: { id: number, version: number, digest: string, source: TemplateSource }
  /** JSON. */
  data: unknown
  format: 'pdf'
  /** The date inside the document, RFC 3339: the same job gives the same bytes. */
  now: string
}

/** A document; `bytes` own their memory. */
export type Rendered = { bytes: Uint8Array<ArrayBuffer>, contentType: 'application/pdf', pages: number, title: string }

/** What a worker answers: errors of the data are an answer like any other. */
export type Outcome = { ok: true, rendered: Rendered } | { ok: false, problems: readonly Problem[] }
