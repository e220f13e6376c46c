import type { JsonObject } from '@dispatch/common'
import type { DocumentHandle } from '../contract/common.ts'

/** What is made of a template (or comes with the request) before a service is done, by its kind. */
export type Content = {
  /** A file, how many pages it has where that is known, and where it is to be signed. */
  document: { document: DocumentHandle, pages?: number, signatures: readonly SignaturePlace[] }
  /** The body of an e-mail, unless the request brings its own, with the pictures that it shows; and what is attached to it. */
  message: { html?: string, text?: string, inline?: readonly InlinePicture[], attachments: readonly DocumentHandle[] }
  /** A plain text, unless the request brings its own. */
  text: { text?: string }
  /** The file that came with the request. */
  upload: { document: DocumentHandle }
}
/** A picture that an HTML body shows as `cid:<contentId>` (RFC 2392). */
export type InlinePicture = DocumentHandle & { contentId: string }

export type ContentKind = keyof Content

/**
 * All that a service needs besides its fields. `data` is that of the template, empty without one; `link` leads to the document of the
 * chain.
 */
export type StepContent<Kind extends ContentKind = ContentKind> = {
  data: JsonObject
  metadata: Readonly<Record<string, string>>
  link?: string
} & Content[Kind]

/** Where a signer (1 is the first) signs: in points from the top left of the page (1 is the first). */
export type SignaturePlace = { signer: number, page: number, x: number, y: number, width: number, height: number }
