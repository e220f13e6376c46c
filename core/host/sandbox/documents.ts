import { isRecord } from '@dispatch/common'
import type { DocumentHandle } from '../../contract/common.ts'
import type { HttpCall } from '../http/call.ts'
import type { SmtpMessage } from '../smtp/message.ts'

/** The documents of one call: those of its request, and those that it fetched. An adapter names them, and no others. */
export type OwnDocuments = {
  add: (document: DocumentHandle) => void
  /** The document that is meant, under the name and type that the adapter gives it. Throws a TypeError for any other. */
  find: (named: unknown) => DocumentHandle
}

/** What may stand in a request: far more than any has. */
const most = 1_000

/** The documents that stand anywhere in a request. */
export function createOwnDocuments (request: unknown): OwnDocuments {
  const own = new Map<string, DocumentHandle>()
  const add = (document: DocumentHandle): void => {
    if (own.size >= most) throw new RangeError(`A call has ${most} documents at most.`)
    own.set(document.id, document)
  }
  collect(request, add)
  return {
    add,
    find (named) {
      const { id, filename, contentType }: Readonly<Record<string, unknown>> = isRecord(named) ? named : {}
      const document = typeof id === 'string' ? own.get(id) : undefined
      if (document === undefined) throw new TypeError('A document was named that is none of this call.')
      return {
        ...document,
        ...(typeof filename === 'string' && { filename }),
        ...(typeof contentType === 'string' && { contentType })
      }
    }
  }
}

function collect (value: unknown, add: (document: DocumentHandle) => void): void {
  if (Array.isArray(value)) value.forEach((item) => collect(item, add))
  else if (isDocument(value)) add(value)
  else if (isRecord(value)) Object.values(value).forEach((item) => collect(item, add))
}

function isDocument (value: unknown): value is DocumentHandle {
  if (!isRecord(value)) return false
  const { id, filename, contentType, size, sha256 } = value
  return [id, filename, contentType, sha256].every((field) => typeof field === 'string') && typeof size === 'number'
}

/** A request whose documents are the call's own. */
export function withOwnDocuments<Fields extends HttpCall> (fields: Fields, documents: OwnDocuments): Fields {
  const { document, multipart } = fields
  return {
    ...fields,
    ...(document !== undefined && { document: documents.find(document) }),
    ...(multipart !== undefined && {
      multipart: Object.fromEntries(Object.entries(multipart).map(([name, part]) => [name, partOf(part, documents)]))
    })
  }
}

type Part = NonNullable<HttpCall['multipart']>[string]

function partOf (part: unknown, documents: OwnDocuments): Part {
  if (Array.isArray(part)) return part.flatMap((one: unknown) => partOf(one, documents) ?? [])
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
