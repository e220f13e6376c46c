import { compile, type Fit, inspectJson, type JsonObject, type Problem } from '@dispatch/common'
import { Type } from 'typebox'
import { recipientLists } from '../../contract/recipients.ts'
import type { ServiceName } from '../../contract/service-names.ts'
import type { Accepted } from '../manifest/definition.ts'
import { mapTexts } from './redact.ts'

const answer = {
  id: Type.String({ minLength: 1, maxLength: 500 }),
  status: Type.String({ minLength: 1, maxLength: 200 }),
  url: Type.Optional(Type.String({ maxLength: 2048 }))
}

/** The fields that every dispatch answers with; further fields are the provider's own. */
const fitAnswer = compile(Type.Unsafe<Accepted>(Type.Object(answer)))

/** The same for an e-mail, which may report about its recipients. A provider must not report `uncertain`: it throws instead. */
const fitMailAnswer = compile(Type.Unsafe<Accepted>(Type.Object({ ...answer, ...recipientLists, uncertain: Type.Optional(Type.Never()) })))

/** The largest answer in characters of JSON: it is stored, and shown to the client. */
const mostCharacters = 65_536

/** Checks that the value a provider returned is plain JSON of bounded size with the vendor's id and status. The result is a copy. */
export function readProviderResponse (service: ServiceName, returned: unknown): Fit<Accepted> {
  const copied = copyJson(returned)
  if (!copied.ok) return copied
  const problems = inspectJson(copied.value)
  if (problems.length > 0) return { ok: false, problems }
  return service === 'email' ? fitMailAnswer(copied.value) : fitAnswer(copied.value)
}

/** Checks that the value a foreign function returned is plain JSON of bounded size. The result is a copy with printable texts. */
export function copyJson (value: unknown): Fit<unknown> {
  try {
    if (value === undefined) return unreadable('Nothing was returned.')
    const text = JSON.stringify(value, refuseUnplain)
    if (text.length > mostCharacters) return unreadable(`More than ${mostCharacters} characters of JSON.`)
    return { ok: true, value: mapTexts(JSON.parse(text) as JsonObject, printable) }
  } catch {
    return unreadable('Not plain JSON data.')
  }
}

/** JSON.stringify would leave these out silently. */
function refuseUnplain (_key: string, value: unknown): unknown {
  if (!isPlain(value)) throw new TypeError('Not plain data.')
  return value
}

function isPlain (value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value !== 'function' && typeof value !== 'symbol'
  return value === null || Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null)
}

/** A text that PostgreSQL and UTF-8 can hold: a vendor's unusual character must not lose an accepted dispatch. */
export function printable (text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

function unreadable (message: string): { ok: false, problems: Problem[] } {
  return { ok: false, problems: [{ path: '', code: 'unreadable', message }] }
}
