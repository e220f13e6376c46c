import { isRecord } from '@dispatch/common'
import { compactVerify, decodeProtectedHeader, errors, flattenedVerify, type FlattenedVerifyGetKey } from 'jose'
import { createHmac, hash } from 'node:crypto'
import { isNear, isSame, usualTolerance } from './compare.ts'
import type { Verifier } from './webhook.ts'

/** A received event: header names in lower case, the body as its bytes. */
export type WebhookRequest = { headers: Readonly<Record<string, string | undefined>>, body: Uint8Array }

/** Why an event is not accepted as the vendor's. */
export type SignatureFault =
  | 'no_signature'
  | 'malformed_signature'
  | 'forbidden_header'
  | 'wrong_algorithm'
  | 'wrong_signature'
  | 'no_secret'
  | 'wrong_time'

/** `unknown_key`: the signature's key is not among the known keys, so it cannot be verified yet. */
export type VerificationStatus = 'verified' | 'unknown_key' | SignatureFault

type Jws = Extract<Verifier, { kind: 'jws' }>
type Hmac = Extract<Verifier, { kind: 'hmac' }>
type Jwt = Extract<Verifier, { kind: 'jwt' }>

/**
 * A compact JWS over the raw body, which takes the place of the payload (RFC 7515, appendix F). Only PS256 is accepted. `keys` finds the
 * key by its `kid`. The header may not contain or name a key in another way, and may not change what is signed.
 */
export async function verifyJws (
  { header }: Jws,
  keys: FlattenedVerifyGetKey,
  { headers, body }: WebhookRequest
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

function headerFault (head: string, algorithm: 'PS256' | 'HS256'): SignatureFault | undefined {
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

/** The header of a JSON Web Token where its verifier names none. */
export const bearerHeader = 'authorization'

/**
 * A JSON Web Token of HS256 that names the hash of the raw body. No other algorithm is accepted, whatever its header says. jose compares in
 * constant time.
 */
export async function verifyJwt (verify: Jwt, secret: string | undefined, delivery: WebhookRequest, at: Date): Promise<VerificationStatus> {
  if (secret === undefined || secret === '') return 'no_secret'
  const token = delivery.headers[(verify.header ?? bearerHeader).toLowerCase()]?.replace(/^bearer +/i, '') ?? ''
  if (token === '') return 'no_signature'
  const [head = '', ...rest] = token.split('.')
  const fault = rest.length === 2 ? headerFault(head, verify.algorithm) : 'malformed_signature'
  if (fault !== undefined) return fault
  try {
    const { payload } = await compactVerify(token, Buffer.from(secret), { algorithms: [verify.algorithm] })
    return claimsFault(verify, JSON.parse(Buffer.from(payload).toString()), delivery, at) ?? 'verified'
  } catch {
    return 'wrong_signature'
  }
}

function claimsFault (
  { claim = 'payload_hash', encoding = 'hex', issuer, tolerance = usualTolerance }: Jwt,
  claims: unknown,
  { body }: WebhookRequest,
  at: Date
): SignatureFault | undefined {
  if (!isRecord(claims)) return 'malformed_signature'
  const { iat, exp, iss, [claim]: given } = claims
  const now = at.getTime() / 1000
  const near = typeof iat === 'number' && Math.abs(now - iat) <= tolerance
  const past = exp !== undefined && !(typeof exp === 'number' && now <= exp)
  if (!near || past) return 'wrong_time'
  if (issuer !== undefined && iss !== issuer) return 'wrong_signature'
  const right = typeof given === 'string' && isSame(Buffer.from(given, encoding), hash('sha256', body, 'buffer'))
  return right ? undefined : 'wrong_signature'
}

/** Basic credentials (RFC 7617), compared as bytes. `expected` is `user:password`. If user or password is missing, nothing is accepted. */
export function verifyBasic (expected: string | undefined, { headers }: WebhookRequest): VerificationStatus {
  if (expected === undefined || !/^[^:]+:./s.test(expected)) return 'no_secret'
  const [, encoded] = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(headers['authorization'] ?? '') ?? []
  if (encoded === undefined) return 'no_signature'
  return isSame(Buffer.from(encoded, 'base64'), Buffer.from(expected)) ? 'verified' : 'wrong_signature'
}

/** HMAC-SHA256 over the raw body, or over `<time>.<body>`. One valid signature header is enough. `at`: when the event was received. */
export function verifyHmac (verify: Hmac, secret: string | undefined, { headers, body }: WebhookRequest, at: Date): VerificationStatus {
  if (secret === undefined || secret === '') return 'no_secret'
  const given = headerNames(verify.header).flatMap((name) => headers[name.toLowerCase()] ?? [])
  if (given.length === 0) return 'no_signature'
  const time = verify.timestamp === undefined ? undefined : headers[verify.timestamp.header.toLowerCase()]
  if (verify.timestamp !== undefined && !isNear(time, verify.timestamp, at)) return 'wrong_time'
  const mac = createHmac('sha256', secret)
  if (time !== undefined) mac.update(`${time}.`)
  const expected = mac.update(body).digest()
  // All signatures are compared, so that the time does not show which one was valid.
  const right = given.map((text) => isSame(decoded(text, verify), expected)).includes(true)
  return right ? 'verified' : 'wrong_signature'
}

/** The most numbered headers that a vendor sends: Docusign signs with up to a hundred keys. */
const mostNumbered = 100

/** The headers that a name stands for, as the declaration wrote it. */
export function headerNames (header: string): string[] {
  return header.endsWith('*') ? Array.from({ length: mostNumbered }, (_, index) => `${header.slice(0, -1)}${index + 1}`) : [header]
}

function decoded (text: string, { prefix = '', encoding }: Hmac): Buffer {
  return text.startsWith(prefix) ? Buffer.from(text.slice(prefix.length), encoding) : Buffer.alloc(0)
}
