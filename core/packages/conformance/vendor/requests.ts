import type { Json } from '@dispatch/common'
import { parseXml } from '@dispatch/vendor-io'
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

/** A part of a multipart body; one of related parts is named by its place, beginning with 0. */
export type ReceivedPart = { name: string, filename?: string, contentType?: string, body: Buffer }

/**
 * A request as a vendor got it, with `json`, `xml`, `form` or `parts` for such a body, and `related` where the parts have no names. For a
 * repeated key in `query` or `form` the last value counts; `search` and `pairs` have all values.
 */
export type ReceivedRequest = {
  method: string
  host: string
  path: string
  query: Record<string, string>
  search: [string, string][]
  headers: Record<string, string>
  body: Buffer
  json?: Json
  xml?: Json
  form?: Record<string, string>
  pairs?: [string, string][]
  parts?: ReceivedPart[]
  related?: true
}

export async function receive (message: IncomingMessage): Promise<ReceivedRequest> {
  const { pathname: path, searchParams } = new URL(message.url ?? '/', 'https://vendor.invalid')
  const body = Buffer.concat(await Array.fromAsync(message as AsyncIterable<Buffer>))
  const headers = Object.fromEntries(Object.entries(message.headers).map(([name, value]) => [name, String(value)]))
  const { socket } = message
  return {
    method: message.method ?? '',
    host: socket instanceof TLSSocket && typeof socket.servername === 'string' ? socket.servername : '',
    path,
    query: Object.fromEntries(searchParams),
    search: [...searchParams],
    headers,
    body,
    ...decode(headers['content-type'] ?? '', body)
  }
}

/** A body in the form that its content type names. */
export function decode (contentType: string, body: Buffer): Pick<ReceivedRequest, 'json' | 'xml' | 'form' | 'pairs' | 'parts' | 'related'> {
  if (/^application\/([\w.-]+\+)?json\b/.test(contentType)) return jsonOf(body)
  if (/^(application|text)\/([\w.-]+\+)?xml\b/.test(contentType)) return xmlOf(body)
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    const pairs = [...new URLSearchParams(body.toString())]
    return { pairs, form: Object.fromEntries(pairs) }
  }
  const [, kind, boundary] = /^multipart\/(form-data|related);.*boundary="?([^";]+)/.exec(contentType) ?? []
  if (boundary === undefined) return {}
  const parts = partsOf(body, boundary)
  return kind === 'related' ? { related: true, parts: parts.map((part, index) => ({ ...part, name: String(index) })) } : { parts }
}

function jsonOf (body: Buffer): { json?: Json } {
  try {
    return { json: JSON.parse(body.toString()) as Json }
  } catch {
    return {}
  }
}

function xmlOf (body: Buffer): { xml?: Json } {
  try {
    return { xml: parseXml(body.toString()) }
  } catch {
    return {}
  }
}

/** RFC 7578: every part is between two boundaries; its headers come before an empty line. */
function partsOf (body: Buffer, boundary: string): ReceivedPart[] {
  const sections = body.toString('latin1').split(`--${boundary}`).slice(1, -1)
  return sections.map((section) => {
    const end = section.indexOf('\r\n\r\n')
    const head = Buffer.from(section.slice(2, end), 'latin1').toString()
    const name = /name="([^"]*)"/.exec(head)?.[1] ?? ''
    const filename = /filename="([^"]*)"/.exec(head)?.[1]
    const contentType = /^content-type: *(.+)$/im.exec(head)?.[1]?.trim()
    return {
      name,
      ...(filename !== undefined && { filename }),
      ...(contentType !== undefined && { contentType }),
      body: Buffer.from(section.slice(end + 4, -2), 'latin1')
    }
  })
}
