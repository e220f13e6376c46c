import { isRecord } from '@dispatch/common'
import { parseXml } from '@dispatch/vendor-io'
import { hash } from 'node:crypto'
import type { CallRun } from '../run/run.ts'
import type { ReceivedRequest } from '../vendor/requests.ts'

/** All that reached the vendor in a run, decoded, by its place: `request 1, JSON at /to/0`. */
export type Facts = ReadonlyMap<string, string>

type Fact = readonly [place: string, text: string]

/** What the requests of a run say, and what was handed to the host for a mail server or a disk. */
export function factsOf ({ requests, seen: { handed, beside } }: CallRun): Facts {
  const found = [
    ...requests.flatMap(({ request }, index) => requestFacts(request, `request ${index + 1}`)),
    ...[...handed, ...beside].flatMap(({ what, value }) => below(value, `${what} at `))
  ]
  const facts = new Map<string, string>()
  const times = new Map<string, number>()
  for (const [place, text] of found) {
    const before = times.get(place) ?? 0
    times.set(place, before + 1)
    facts.set(before === 0 ? place : `${place} (${before + 1})`, text)
  }
  return facts
}

/** The places at which two runs differ. */
export function differing (one: Facts, other: Facts): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((place) => one.get(place) !== other.get(place))
}

/** Headers of the connection and of the form of the body: a boundary is another each time. */
const passing = new Set(['connection', 'content-length', 'content-type', 'date', 'host', 'user-agent'])

function requestFacts ({ method, host, path, search, headers, ...request }: ReceivedRequest, name: string): Fact[] {
  return [
    [`${name}, address`, `${method} ${host}`],
    ...path.split('/').map((segment, index): Fact => [`${name}, path ${index}`, decoded(segment)]),
    ...search.flatMap(([key, text]) => textFacts(text, `${name}, query "${key}"`)),
    ...Object.entries(headers).filter(([header]) => !passing.has(header)).flatMap(([header, text]) =>
      textFacts(text, `${name}, header "${header}"`)
    ),
    ...bodyFacts(request, name)
  ]
}

function bodyFacts (
  { json, xml, pairs, parts, body }: Pick<ReceivedRequest, 'json' | 'xml' | 'pairs' | 'parts' | 'body'>,
  name: string
): Fact[] {
  if (json !== undefined) return below(json, `${name}, JSON at `)
  if (xml !== undefined) return below(xml, `${name}, XML at `)
  if (pairs !== undefined) return pairs.flatMap(([key, text]) => textFacts(text, `${name}, form field "${key}"`))
  if (parts !== undefined) {
    return parts.flatMap(({ name: part, filename, body: content }): Fact[] => {
      const place = `${name}, part "${part}"`
      return filename === undefined
        ? textFacts(content.toString(), place)
        : [[`${place}, file name`, filename], [`${place}, file`, bytes(content)]]
    })
  }
  return body.byteLength === 0 ? [] : [[`${name}, body`, bytes(body)]]
}

/** A document is told by its bytes: {@link documentForms}. */
function bytes (content: Buffer): string {
  return content.byteLength <= longest ? content.toString('latin1') : hash('sha256', content)
}

const longest = 10_000

function below (value: unknown, place: string, at = ''): Fact[] {
  if (typeof value === 'string') return textFacts(value, `${place}${at || '/'}`)
  if (Array.isArray(value)) return value.flatMap((item, index) => below(item, place, `${at}/${index}`))
  if (isRecord(value)) return Object.entries(value).flatMap(([name, inner]) => below(inner, place, `${at}/${name}`))
  return value === undefined ? [] : [[`${place}${at || '/'}`, JSON.stringify(value)]]
}

/** A text; or what is in it, where it is JSON, XML, a signed token, or the user and password of a sign-in. */
function textFacts (text: string, place: string): Fact[] {
  const inner = innerOf(text)
  return inner === undefined ? [[place, text]] : below(inner, `${place} at `)
}

function innerOf (text: string): unknown {
  const [, basic] = /^Basic (.+)$/.exec(text) ?? []
  if (basic !== undefined) return Buffer.from(basic, 'base64').toString()
  const claims = claimsOf(text.replace(/^Bearer /, ''))
  if (claims !== undefined) return claims
  return parsed(text, /^\s*[{[]/, JSON.parse) ?? parsed(text, /^\s*<(\?xml|[\w:]+ [^>]*xmlns)/, (xml) => parseXml(xml.trim()))
}

function parsed (text: string, looks: RegExp, parse: (text: string) => unknown): unknown {
  if (!looks.test(text)) return undefined
  try {
    const value = parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    // It only looks like it.
    return undefined
  }
}

/** The header, the claims and the signature of a token, without what is another each time. */
function claimsOf (text: string): unknown {
  const parts = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text.split('.').slice(0, 2) : []
  const [header, claims] = parts.map((part) => parsed(Buffer.from(part, 'base64url').toString(), /^\{/, JSON.parse))
  if (!isRecord(header) || !isRecord(claims)) return undefined
  const { jti, iat, exp, nbf, ...others } = claims
  return { header, ...others, signature: text.split('.')[2] ?? '' }
}

function decoded (segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    // It is no encoded text.
    return segment
  }
}

/** The forms in which a document reaches a vendor: its bytes, in base64, or as its handle, which the host is given. */
export function documentForms (content: Buffer): string[] {
  return [content.toString('latin1'), content.toString('base64'), hash('sha256', content)]
}
