import { isRecord } from '@dispatch/common'
import type { OwnDocuments } from '../documents/own-documents.ts'
import { RequestFailure } from '../outcome/request-outcome.ts'
import type { HttpCall } from './call.ts'

/** What an object becomes where a text is expected, also in a path. */
const objectAsText = /\[object Object\]|%5Bobject%20Object%5D/i

/**
 * Refuses a request with a document or another object in a place for texts: there it would be sent as the fields of its handle, or as
 * "[object Object]". Throws a {@link RequestFailure}.
 */
export function requireTexts (url: string, { query, headers, xml }: HttpCall, own: OwnDocuments): void {
  const [path = ''] = url.split('?')
  if (objectAsText.test(path)) throw misplaced('An object', 'the path')
  for (const [name, value] of Object.entries<unknown>(headers ?? {})) {
    if (typeof value === 'object' || (typeof value === 'string' && objectAsText.test(value))) {
      throw misplaced('An object', `the header "${name}"`)
    }
  }
  requireNoDocument(query, own, 'the query')
  requireNoDocument(xml, own, 'the XML')
}

function requireNoDocument (value: unknown, own: OwnDocuments, place: string): void {
  if (own.has(value)) throw misplaced('A document', place)
  if (Array.isArray(value)) value.forEach((item, index) => requireNoDocument(item, own, `${place}[${index}]`))
  else if (isRecord(value)) Object.entries(value).forEach(([name, item]) => requireNoDocument(item, own, `${place}[${name}]`))
}

function misplaced (what: string, place: string): RequestFailure {
  const message =
    `${what} stands in ${place}, which takes texts only: the bytes of a document go into "json", "form", "multipart" or "document".`
  return new RequestFailure('not done', message, { ours: true })
}
