import { isRecord, type JsonObject } from '@dispatch/common'
import { compactVerify, decodeProtectedHeader, errors, flattenedVerify, type FlattenedVerifyGetKey } from 'jose'
import type { KeyObject } from 'node:crypto'
import { secretBytes } from './algorithms.ts'
import { isSame, usualTolerance } from './compare.ts'
import { type EventRequest, hashed } from './event-request.ts'
import { bearer, coversBody, type Jws, type Part, type Token } from './language.ts'
import type { Judged } from './signature.ts'
import { textIn, vendorKeys, type VerifyWith } from './vendor-keys.ts'
import type { SignatureFault, VerificationStatus } from './verdict.ts'

/**
 * A compact JWS over the raw body, which takes the place of the payload (RFC 7515, appendix F). Only PS256 is accepted. `keys` finds the
 * key by its `kid`. The header may not contain or name a key in another way, and may not change what is signed.
 */
export async function verifyJws (
  { header }: Pick<Jws, 'header'>,
  keys: FlattenedVerifyGetKey,
  { request: { headers, body } }: Pick<EventRequest, 'request'>
): Promise<VerificationStatus> {
  const compact = headers[header.toLowerCase()]
  if (compact === undefined || compact === '') return 'no_signature'
  const [head, payload, signature, ...rest] = compact.split('.')
  if (head === undefined || payload !== '' || signature === undefined || signature === '' || rest.length > 0) return 'malformed_signature'
  const fault = headerFault(head, 'PS256') ?? (hasKeyId(head) ? undefined : 'malformed_signature')
  if (fault !== undefined) return fault
  try {
    await flattenedVerify({ protected: head, payload: Buffer.from(body).toString('base64url'), signature }, keys, { algorithms: ['PS256'] })
    return 'verified'
  } catch (error) {
    return error instanceof errors.JWKSNoMatchingKey ? 'unknown_key' : 'wrong_signature'
  }
}

const forbidden = ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64']

function headerFault (head: string, algorithm: string): SignatureFault | undefined {
  try {
    const header = decodeProtectedHeader({ protected: head })
    if (forbidden.some((name) => Object.hasOwn(header, name))) return 'forbidden_header'
    return header.alg === algorithm ? undefined : 'wrong_algorithm'
  } catch {
    return 'malformed_signature'
  }
}

/** A readable header names its key. */
function hasKeyId (head: string): boolean {
  const { kid } = decodeProtectedHeader({ protected: head })
  return typeof kid === 'string' && kid !== ''
}

/** The token of an event: undefined where none, or several, stand in its place. */
export async function tokenOf ({ at = bearer }: Pick<Token, 'at'>, { request, textsAt }: EventRequest): Promise<string | undefined> {
  const [text, ...others] = at === 'body' ? [Buffer.from(request.body).toString().trim()] : await textsAt(at) ?? []
  const token = others.length > 0 ? undefined : text?.replace(/^bearer +/i, '')
  return token === '' ? undefined : token
}

/**
 * A JSON Web Token of the one algorithm that is declared, whatever its header says, with the claims that are declared. jose compares in
 * constant time.
 */
export async function verifyToken (verify: Token, event: EventRequest, by: VerifyWith, at: Date): Promise<Judged> {
  const secret = 'secret' in verify.key ? secretBytes(textIn(by.settings, verify.key.secret), verify.key) : undefined
  if ('secret' in verify.key && secret === undefined) return { verdict: 'no_secret' }
  const token = await tokenOf(verify, event)
  if (token === undefined) return { verdict: 'no_signature' }
  const [head = '', payload = '', ...rest] = token.split('.')
  const fault = rest.length === 1 ? headerFault(head, verify.algorithm) : 'malformed_signature'
  if (fault !== undefined) return { verdict: fault }
  const found = 'secret' in verify.key ? undefined : await vendorKeys(verify.key, event, by, at)
  if (found?.ok === false) return { verdict: found.verdict }
  const claims = await claimsIn(token, verify.algorithm, secret === undefined ? found?.keys ?? [] : [secret])
  if (claims === undefined) {
    return found?.source === undefined
      ? { verdict: 'wrong_signature' }
      : { verdict: 'unknown_key', source: found.source }
  }
  const wrong = isRecord(claims)
    ? await claimsFault(verify, claims as JsonObject, { event, settings: by.settings, at })
    : 'malformed_signature'
  if (wrong !== undefined) return { verdict: wrong }
  const covers = Object.entries(verify.claims ?? {}).some(([name, parts]) => Object.hasOwn(claims as object, name) && coversBody(parts))
  return { verdict: 'verified', ...(covers ? {} : { proof: Buffer.from(`${head}.${payload}`) }) }
}

/** What a token says; undefined where none of the keys has signed it. */
async function claimsIn (token: string, algorithm: string, keys: readonly (KeyObject | Uint8Array)[]): Promise<unknown> {
  for (const key of keys) {
    try {
      const { payload } = await compactVerify(token, key, { algorithms: [algorithm] })
      return JSON.parse(Buffer.from(payload).toString()) as unknown
    } catch {
      // Another key may have signed it.
      continue
    }
  }
  return undefined
}

async function claimsFault (
  { claims: expected = {}, times = [], tolerance = usualTolerance }: Token,
  claims: JsonObject,
  { event, settings, at }: { event: EventRequest, settings: JsonObject, at: Date }
): Promise<SignatureFault | undefined> {
  const now = at.getTime() / 1000
  const fits = {
    iat: (time: number) => Math.abs(now - time) <= tolerance,
    nbf: (time: number) => time <= now + tolerance,
    exp: (time: number) => now <= time
  }
  for (const [name, isFit] of Object.entries(fits)) {
    const time = claims[name]
    if (time === undefined ? times.some((needed) => needed === name) : typeof time !== 'number' || !isFit(time)) return 'wrong_time'
  }
  for (const [name, parts] of Object.entries(expected)) {
    if (!await isAsExpected(Object.hasOwn(claims, name) ? claims[name] : undefined, parts, event, settings)) return 'wrong_signature'
  }
  return undefined
}

/** Whether a claim is what the pieces make. A vendor leaves out the hash of nothing. */
async function isAsExpected (claim: unknown, parts: readonly Part[], event: EventRequest, settings: JsonObject): Promise<boolean> {
  const [part, ...others] = parts
  if (typeof part === 'object' && 'hash' in part && others.length === 0) {
    const { encoding = 'hex' } = part
    const bytes = await event.bytesOf(part.of, { settings })
    if (bytes === undefined) return false
    if (claim === undefined) return bytes.byteLength === 0
    if (typeof claim !== 'string') return false
    return encoding === 'bytes' || encoding === 'decimal'
      ? isSame(Buffer.from(claim), Buffer.from(hashed(part, bytes)))
      : isSame(Buffer.from(claim, encoding), Buffer.from(hashed({ ...part, encoding: 'bytes' }, bytes)))
  }
  const bytes = await event.bytesOf(parts, { settings })
  return bytes !== undefined && (typeof claim === 'string' || typeof claim === 'number') && isSame(Buffer.from(String(claim)), bytes)
}
