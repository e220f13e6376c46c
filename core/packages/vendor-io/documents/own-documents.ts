import { type DocumentHandle, isRecord } from '@dispatch/common'
import type { Readable } from 'node:stream'

/** Opens the bytes of a document. */
export type ReadDocument = (document: DocumentHandle) => Promise<Readable>

/** The documents of one call: those of its request, and those that it fetched. A provider names them, and no others. */
export type OwnDocuments = {
  add: (document: DocumentHandle) => void
  /** Whether a value is the handle of one of them, perhaps under another name or type. */
  has: (value: unknown) => value is DocumentHandle
  /** The document that is meant, under the name and type that the provider gives it. Throws a TypeError for any other. */
  find: (named: unknown) => DocumentHandle
}

/** What may stand in a request: far more than any has. */
const maxDocuments = 1_000

/** Fields that a client writes freely: what looks like a handle there may name the document of somebody else. */
const written: ReadonlySet<string> = new Set(['data', 'metadata'])

/**
 * The documents that stand in the fields of a request. Throws a RangeError for too many, and a TypeError for one that is none of the call.
 */
export function createOwnDocuments (request: unknown): OwnDocuments {
  const own = new Map<string, DocumentHandle>()
  const add = (document: DocumentHandle): void => {
    if (own.size >= maxDocuments) throw new RangeError(`A call has ${maxDocuments} documents at most.`)
    own.set(document.id, document)
  }
  if (isRecord(request)) {
    for (const [field, value] of Object.entries(request)) if (!written.has(field)) collect(value, add)
  }
  return {
    add,
    has: (value): value is DocumentHandle => isDocument(value) && own.get(value.id)?.sha256 === value.sha256,
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
