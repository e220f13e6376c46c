import { isRecord } from '@dispatch/common'
import type { HttpCall, SmtpMessage } from '@dispatch/host/provider'
import type { OwnDocuments } from '@dispatch/vendor-io'

/** A request whose documents are the call's own. */
export function withOwnDocuments<Fields extends HttpCall> (fields: Fields, documents: OwnDocuments): Fields {
  const { base64, document, multipart, related, part } = fields
  return {
    ...fields,
    ...(document !== undefined && { document: documents.find(document) }),
    ...(base64 !== undefined && { base64: documents.find(base64) }),
    ...(part !== undefined && { part: { ...part, document: documents.find(part.document) } }),
    ...(multipart !== undefined && {
      multipart: Object.fromEntries(Object.entries(multipart).map(([name, part]) => [name, partOf(part, documents)]))
    }),
    ...(related !== undefined && { related: related.map((part) => onePartOf(part, documents)) })
  }
}

type Parts = NonNullable<HttpCall['multipart']>[string]
type Part = NonNullable<HttpCall['related']>[number]

function partOf (part: unknown, documents: OwnDocuments): Parts {
  return Array.isArray(part) ? part.map((one: unknown) => onePartOf(one, documents)) : onePartOf(part, documents)
}

function onePartOf (part: unknown, documents: OwnDocuments): Part {
  if (typeof part === 'string' || typeof part === 'number' || typeof part === 'boolean') return part
  if (!isRecord(part)) throw new TypeError('A part is a text, a number, a document, or an object that says which.')
  const { text, json, document, filename, contentType }: Readonly<Record<string, unknown>> = part
  const type = typeof contentType === 'string' ? { contentType } : {}
  if (typeof text === 'string') return { contentType: 'text/plain', text, ...type }
  if (json !== undefined) return { json, ...type }
  if (document === undefined) return documents.find(part)
  return { document: documents.find(document), ...type, ...(typeof filename === 'string' && { filename }) }
}

/** A message whose documents are the call's own. */
export function mailWithOwnDocuments ({ inline, attachments, ...message }: SmtpMessage, documents: OwnDocuments): SmtpMessage {
  return {
    ...message,
    ...(inline !== undefined && { inline: inline.map((picture) => ({ ...documents.find(picture), contentId: picture.contentId })) }),
    ...(attachments !== undefined && { attachments: attachments.map((document) => documents.find(document)) })
  }
}
