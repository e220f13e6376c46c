import { isRecord, type Json, pointer } from '@dispatch/common'
import { parseXml } from '@dispatch/vendor-io'
import type { CallRun } from '../run/run.ts'
import type { ReceivedPart, ReceivedRequest } from '../vendor/requests.ts'

/**
 * A text or a number that the vendor reads. `where` is for people: `request 1, JSON at /to/0`. `isHeader`: it has ASCII alone.
 * `isQuestion`: it stands in a request that changes nothing. `isNo`: what it must be, and cannot be read as.
 */
export type Leaf = { where: string, text: string, isHeader?: true, isQuestion?: true, isNo?: 'JSON' | 'XML' }

/** All that reached the vendor in a run, decoded; an e-mail and the path of a file as the provider has given them to the host. */
export function leavesOf ({ requests, seen: { handed } }: CallRun): Leaf[] {
  return [
    ...requests.flatMap(({ request }, index) => {
      const leaves = requestLeaves(request, `request ${index + 1}`)
      return request.method === 'GET' ? leaves.map((leaf) => ({ ...leaf, isQuestion: true } as const)) : leaves
    }),
    ...handed.flatMap(({ what, value }) => below(value, `${what} at `, ''))
  ]
}

function requestLeaves (request: ReceivedRequest, name: string): Leaf[] {
  const { path, search, headers } = request
  return [
    ...path.split('/').flatMap((segment) => percentDecoded(segment).map((text) => ({ where: `${name}, path`, text }))),
    ...search.flatMap(([key, text]) => [{ where: `${name}, query "${key}"`, text }, { where: `${name}, query`, text: key }]),
    ...Object.entries(headers).filter(([header]) => header !== 'authorization').flatMap(([header, value]) =>
      headerLeaves(value, `${name}, header "${header}"`)
    ),
    ...bodyLeaves(request, name)
  ]
}

/** JSON writes letters beyond ASCII as \u…, so that a header can have them all. */
function headerLeaves (value: string, where: string): Leaf[] {
  if (isJson(value)) return textLeaves(value, where)
  return [value, ...percentDecoded(value)].map((text) => ({ where, text, isHeader: true }))
}

function bodyLeaves ({ headers, body, json, xml, pairs, parts }: ReceivedRequest, name: string): Leaf[] {
  if (json !== undefined) return below(json, `${name}, JSON at `, '')
  if (xml !== undefined) return below(xml, `${name}, XML at `, '')
  if (pairs !== undefined) return pairs.flatMap(([key, text]) => textLeaves(text, `${name}, form field "${key}"`))
  if (parts !== undefined) return parts.flatMap((part) => partLeaves(part, name))
  // An e-mail is read as it was handed to the host, which has written it.
  if (body.byteLength === 0 || headers['content-type'] === 'message/rfc822') return []
  const [, named] = /\b(json|xml)\b/.exec(headers['content-type'] ?? '') ?? []
  const [where, text] = [`${name}, body`, body.toString()]
  return named === undefined ? textLeaves(text, where) : [{ where, text, isNo: named === 'json' ? 'JSON' : 'XML' }]
}

/** Browsers write a quotation mark in a file name as %22, as the host does. */
function partLeaves ({ name: part, filename, contentType = '', body }: ReceivedPart, name: string): Leaf[] {
  const where = `${name}, part "${part}"`
  const names = filename === undefined ? [] : [...new Set([filename, filename.replaceAll('%22', '"')])]
  const isDocument = filename !== undefined && !/json|xml|text/.test(contentType)
  return [...names.map((text) => ({ where: `${where}, file name`, text })), ...isDocument ? [] : textLeaves(body.toString(), where)]
}

function isJson (text: string): boolean {
  return /^\s*(\{\s*"|\[\s*["{[])/.test(text)
}

/** A text; or the texts in it, where it is JSON or XML. */
function textLeaves (text: string, where: string): Leaf[] {
  const form = isJson(text) ? 'JSON' : /^\s*<(\?xml|[\w:]+ [^>]*xmlns)/.test(text) ? 'XML' : undefined
  if (form === undefined) return [{ where, text }]
  try {
    return below(form === 'JSON' ? JSON.parse(text) as Json : parseXml(text.trim()), `${where} at `, '')
  } catch {
    // The report says that it is not what it looks like.
    return [{ where, text, isNo: form }]
  }
}

function below (value: unknown, where: string, at: string): Leaf[] {
  if (typeof value === 'string') return textLeaves(value, `${where}${at || '/'}`)
  if (typeof value === 'number') return [{ where: `${where}${at || '/'}`, text: String(value) }]
  if (Array.isArray(value)) return value.flatMap((item, index) => below(item, where, `${at}/${index}`))
  return isRecord(value) ? Object.entries(value).flatMap(([name, inner]) => below(inner, where, pointer(at, name))) : []
}

/** As in URLs and by RFC 8187; what cannot be decoded is left out. */
function percentDecoded (text: string): string[] {
  try {
    return [decodeURIComponent(text)]
  } catch {
    return []
  }
}
