import type { DocumentHandle, JsonObject } from '@dispatch/common'

/** The content of a service, by its kind: rendered from a template, or given in the request. */
export type Content = {
  /** A file, how many pages it has where that is known, where it is to be signed, and what goes beside it. */
  document: {
    document: DocumentHandle
    pages?: number
    signatures: readonly SignaturePlace[]
    attachments?: readonly DocumentHandle[]
  }
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
 * What a service needs besides its fields. `data`: the template's data (empty without one). `link`: the link to the chain's document.
 * `unsubscribeUrl`: where its recipient asks for no more, if the fields ask for that. `secret`: what stands in the
 * content and nowhere else; what the provider logs and answers hides it.
 */
export type StepContent<Kind extends ContentKind = ContentKind> = {
  data: JsonObject
  metadata: Readonly<Record<string, string>>
  link?: string
  unsubscribeUrl?: string
  secret?: string
} & Content[Kind]

/**
 * Where a signer (1 is the first) signs: in points from the top left of the page (1 is the first). `pageSize`: how large that page is, in
 * points; only places that were recorded before this version lack it.
 */
export type SignaturePlace = {
  signer: number
  page: number
  x: number
  y: number
  width: number
  height: number
  pageSize?: { width: number, height: number }
}
