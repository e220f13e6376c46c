import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { isCredentialField } from '@dispatch/vendor-io'
import { isUtf8 } from 'node:buffer'
import type { Exchange, Expected, ExpectedPart } from '../fixtures/fixture.ts'
import type { ReceivedPart, ReceivedRequest } from '../vendor/requests.ts'
import type { RecordedAnswer, RecordedExchange } from './recorder.ts'

type Documents = ReadonlyMap<string, Buffer>

/** What is known of the values of a run: the documents by their pointers, and whether a text is a secret that will be masked. */
export type KnownValues = { documents: Documents, isSecret: (text: string) => boolean }

/** A recorded request and its answer as a fixture has them. A credential that is made anew each time is `{{any}}`. */
export function exchangeOf ({ request, answer }: RecordedExchange, known: KnownValues): Exchange[number] {
  const { method, host, path, search, headers } = request
  return {
    expect: {
      method: method as Expected['method'],
      url: `https://${host}${path}`,
      ...(search.length > 0 && { query: pairsOf(search, known) }),
      ...signInOf(headers, known),
      ...headersOf(headers, known),
      ...bodyOf(request, known)
    },
    answer: answerOf(answer)
  }
}

const any = '{{any}}'

/** Headers that the host makes, or that belong to a signature or a connection. */
const unnamed =
  /^(accept|accept-encoding|authorization|connection|content-length|content-type|date|host|transfer-encoding|user-agent|x-amz-.*)$/

function signInOf ({ authorization = '' }: ReceivedRequest['headers'], { isSecret }: KnownValues): Pick<Expected, 'basic' | 'bearer'> {
  const [, scheme = '', rest = ''] = /^(\S+) +(.+)$/.exec(authorization) ?? []
  if (/^bearer$/i.test(scheme)) return { bearer: isSecret(rest) ? rest : any }
  if (!/^basic$/i.test(scheme)) return {}
  const [user = '', ...password] = Buffer.from(rest, 'base64').toString().split(':')
  return { basic: [user, password.join(':')] }
}

function headersOf (headers: ReceivedRequest['headers'], known: KnownValues): Pick<Expected, 'headers'> {
  const named = Object.entries(headers).filter(([name]) => !unnamed.test(name)).map(([name, value]) =>
    [name, credential(name, value, known)] as const
  )
  return named.length === 0 ? {} : { headers: Object.fromEntries(named) }
}

function credential (name: string, value: string, { isSecret }: KnownValues): string {
  return (isCredentialField(name) || /assertion$/i.test(name)) && !isSecret(value) && value !== '' ? any : value
}

function pairsOf (pairs: readonly [string, string][], known: KnownValues): Record<string, string | string[]> {
  const groups = Object.groupBy(pairs, ([name]) => name)
  return Object.fromEntries(Object.entries(groups).map(([name, found = []]) => {
    const values = found.map(([, value]) => credential(name, value, known))
    return [name, values.length === 1 ? values.join('') : values]
  }))
}

type ExpectedBody = Pick<Expected, 'form' | 'json' | 'xml' | 'multipart' | 'related' | 'document' | 'text'>

function bodyOf ({ body, pairs, json, xml, parts, related }: ReceivedRequest, known: KnownValues): ExpectedBody {
  if (pairs !== undefined) return { form: pairsOf(pairs, known) }
  if (json !== undefined) return { json: withoutCredentials(json, known) }
  if (xml !== undefined) return { xml: withoutCredentials(xml, known) as JsonObject }
  if (parts !== undefined && related === true) return { related: parts.map((part) => partOf(part, known.documents)) }
  if (parts !== undefined) return { multipart: multipartOf(parts, known) }
  const document = pointerOf(body, known.documents)
  if (document !== undefined) return { document }
  return body.byteLength === 0 ? {} : { text: body.toString() }
}

function withoutCredentials (value: Json, known: KnownValues): Json {
  if (Array.isArray(value)) return value.map((item: Json) => withoutCredentials(item, known))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(
      ([name, inner]) => [name, typeof inner === 'string' ? credential(name, inner, known) : withoutCredentials(inner, known)]
    )
  )
}

function multipartOf (parts: readonly ReceivedPart[], { documents }: KnownValues): NonNullable<Expected['multipart']> {
  const groups = Object.groupBy(parts, ({ name }) => name)
  return Object.fromEntries(Object.entries(groups).map(([name, found = []]) => {
    const all = found.map((part) => partOf(part, documents))
    const [first, ...others] = all
    return [name, first === undefined || others.length > 0 ? all : first]
  }))
}

function partOf ({ body, filename, contentType }: ReceivedPart, documents: Documents): ExpectedPart {
  const document = pointerOf(body, documents)
  const type = contentType === undefined ? {} : { contentType }
  if (document !== undefined) return { document, ...(filename !== undefined && { filename }), ...type }
  if (contentType?.startsWith('application/json') === true) return { json: JSON.parse(body.toString()) as Json, ...type }
  return contentType === undefined ? body.toString() : { text: body.toString(), ...type }
}

function pointerOf (body: Buffer, documents: Documents): string | undefined {
  return body.byteLength === 0 ? undefined : [...documents].find(([, bytes]) => bytes.equals(body))?.[0]
}

const textual = /^(text\/|application\/([\w.-]+\+)?xml\b)/
/** Stands in for a file of the vendor: bytes are no text. */
const file = 'A file of the vendor.\n'

function answerOf ({ status, headers, body, json }: RecordedAnswer): Exchange[number]['answer'] {
  const { 'content-type': type, 'retry-after': wait } = headers
  const named = {
    ...(json === undefined && type !== undefined && { 'content-type': type }),
    ...(wait !== undefined && { 'retry-after': wait })
  }
  return {
    ...(status !== 200 && { status }),
    ...(Object.keys(named).length > 0 && { headers: named }),
    ...(json === undefined
      ? body.byteLength > 0 && { text: isUtf8(body) && textual.test(type ?? '') ? body.toString() : file }
      : { json })
  }
}
