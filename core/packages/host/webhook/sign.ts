import { type Json, type JsonObject, lazy } from '@dispatch/common'
import { basicHeader } from '@dispatch/vendor-io'
import { CompactSign } from 'jose'
import { constants, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { macOf, schemes, secretBytes } from './algorithms.ts'
import { type BodyReading, claimsOf } from './body.ts'
import { withText } from './content.ts'
import { hashed, readRequest, type WebhookRequest } from './event-request.ts'
import type { KeySet } from './keys.ts'
import { type Basic, bearer, isMac, partsOf, type Place, type PlainSecret, type Signature, signedParts, type Spelled, spelled, type Token,
  type Verifier } from './language.ts'

/** A vendor's key pairs, with the key set that it publishes. */
export type VendorSigningKey = { id: string, key: KeyObject, jwks: KeySet, pairs: Record<Family, () => KeyPair> }

type Family = 'rsa' | 'ec' | 'ed25519'
type KeyPair = { privateKey: KeyObject, publicKey: KeyObject }

/** Each pair is made when it is first needed: one of RSA takes a quarter of a second, and most vendors have none. */
export function createVendorSigningKey (id: string): VendorSigningKey {
  const rsa = lazy(() => generateKeyPairSync('rsa', { modulusLength: 2048 }))
  return {
    id,
    get key () {
      return rsa().privateKey
    },
    get jwks () {
      return { keys: [{ ...rsa().publicKey.export({ format: 'jwk' }) as JsonObject, kid: id, alg: 'PS256', use: 'sig' }] }
    },
    pairs: {
      rsa,
      ec: lazy(() => generateKeyPairSync('ec', { namedCurve: 'P-256' })),
      ed25519: lazy(() => generateKeyPairSync('ed25519'))
    }
  }
}

/**
 * A vendor's means to sign: its keys, the settings of the configuration, and the server's own credentials (`user:password`). `address`: the
 * URL of the webhook, with its query after "?". `spoil`: one bit of each signature is altered.
 */
export type SignWith = { key: VendorSigningKey, settings: JsonObject, endpoint: string, address?: string, spoil?: true }

/** The verifier with keys of this signer in place of the vendor's public ones. */
export function withKeysOf (key: VendorSigningKey, verify: Verifier): Verifier {
  if (verify.kind === 'jws') return { ...verify, jwks: key.jwks }
  if ((verify.kind !== 'signature' && verify.kind !== 'token') || 'secret' in verify.key) return verify
  const pem = key.pairs[familyOf(verify.algorithm)]().publicKey.export({ type: 'spki', format: 'pem' })
  return { ...verify, key: { fixed: pem } } as Verifier
}

function familyOf (algorithm: string): Family {
  if (algorithm === 'ed25519' || algorithm === 'EdDSA') return 'ed25519'
  return algorithm === 'ecdsa-p256-sha256' || algorithm === 'ES256' ? 'ec' : 'rsa'
}

const usualAddress = 'https://dispatch.example.com/api/webhooks/endpoint.json?account=0'

/** A request with an event, before it is signed. */
export function unsigned (content: Buffer, { form }: BodyReading = {}, url = usualAddress): WebhookRequest {
  const [address = '', query = ''] = url.split('?')
  if (form !== 'query') return { headers: {}, body: content, method: 'POST', address, query }
  const requested = [query, content.toString()].filter((part) => part !== '').join('&')
  return { headers: {}, body: Buffer.alloc(0), method: 'GET', address, query: requested }
}

/** An event that a vendor sends at time `at`, signed in the ways that the verifiers check. */
export async function signDelivery (
  verifiers: readonly Verifier[],
  content: Buffer,
  by: SignWith,
  at: Date,
  reading: BodyReading = {}
): Promise<WebhookRequest> {
  let request = unsigned(content, reading, by.address)
  for (const verify of verifiers) request = await signed(spelled(verify), request, { ...by, at, reading })
  return request
}

type Means = SignWith & { at: Date, reading: BodyReading }

async function signed (verify: Spelled, request: WebhookRequest, by: Means): Promise<WebhookRequest> {
  switch (verify.kind) {
    case 'signature':
      return await withSignature(verify, request, by)
    case 'token':
      return await withToken(verify, request, by)
    case 'secret':
      return await withSecret(verify, request, by)
    case 'basic':
      return withHeader(request, 'authorization', basicHeader(...credentialsOf(verify, by.settings, by.endpoint)))
    case 'jws':
      return withHeader(request, verify.header, signJws(request.body, by.key))
    case 'hint':
      return request
  }
}

function withHeader (request: WebhookRequest, name: string, value: string): WebhookRequest {
  return { ...request, headers: { ...request.headers, [name.toLowerCase()]: value } }
}

/** Puts a text in its place, beside what stands there. */
async function withPlaced (request: WebhookRequest, place: Place, text: string, reading: BodyReading): Promise<WebhookRequest> {
  if ('query' in place) {
    const query = new URLSearchParams(request.query)
    query.set(place.query, text)
    return { ...request, query: query.toString() }
  }
  if ('body' in place) {
    if (reading.form !== 'query') return { ...request, body: await withText(reading, Buffer.from(request.body), place.body, text) }
    return { ...request, query: (await withText(reading, Buffer.from(request.query ?? ''), place.body, text)).toString() }
  }
  const { part } = place
  const name = place.header.replace(/\*$/, '1').toLowerCase()
  const before = request.headers[name]
  if (part === undefined) return withHeader(request, name, text)
  const separator = place.separator ?? ','
  const pieces = before === undefined ? [] : before.split(separator)
  if (typeof part === 'number') {
    const filled = Array.from({ length: Math.max(pieces.length, part + 1) }, (_, index) => index === part ? text : pieces[index] ?? '')
    return withHeader(request, name, filled.join(separator))
  }
  const [own = ''] = [part].flat()
  return withHeader(request, name, [...pieces.filter((piece) => !piece.startsWith(`${own}=`)), `${own}=${text}`].join(separator))
}

/** Without a usable secret it signs with an empty key, as a forger would. */
async function withSignature (verify: Signature, request: WebhookRequest, by: Means): Promise<WebhookRequest> {
  const { reading, at, settings } = by
  const time = verify.time === undefined ? undefined : timeText(verify.time.unit, at)
  let stamped = verify.time === undefined || time === undefined ? request : await withPlaced(request, verify.time.at, time, reading)
  stamped = await withMissing(verify, stamped, reading)
  const bytes = await readRequest(stamped, reading).bytesOf(verify.signed, { time, settings, own: verify.at })
  const signature = signatureOf(verify, bytes ?? Buffer.alloc(0), by)
  if (by.spoil === true) signature.writeUInt8(signature.readUInt8(0) ^ 1, 0)
  return await withPlaced(stamped, verify.at, `${verify.prefix ?? ''}${signature.toString(verify.encoding)}`, reading)
}

/** What a vendor adds of its own, such as the id of a message, and signs. */
async function withMissing (verify: Spelled, request: WebhookRequest, reading: BodyReading): Promise<WebhookRequest> {
  let whole = request
  for (const part of partsOf(signedParts(verify))) {
    if (typeof part !== 'object' || !('header' in part || 'query' in part || 'body' in part)) continue
    if (await readRequest(whole, reading).textsAt(part) === undefined) whole = await withPlaced(whole, part, randomUUID(), reading)
  }
  return whole
}

function timeText (unit: NonNullable<Signature['time']>['unit'], at: Date): string {
  if (unit === 'iso') return at.toISOString()
  return unit === 'milliseconds' ? String(at.getTime()) : String(Math.floor(at.getTime() / 1000))
}

function signatureOf (verify: Signature, bytes: Buffer, { key, settings }: SignWith): Buffer {
  if (isMac(verify)) {
    return macOf(verify.algorithm, secretBytes(textIn(settings, verify.key.secret), verify.key) ?? Buffer.alloc(0), bytes)
  }
  const { algorithm } = verify
  const { digest, padding } = schemes[algorithm]
  return sign(digest, bytes, {
    key: key.pairs[familyOf(algorithm)]().privateKey,
    ...(padding !== undefined && { padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST })
  })
}

/** RFC 7515, appendix F; PS256 is RSASSA-PSS with SHA-256 and a salt as long as the hash (RFC 7518, 3.5). */
function signJws (body: Uint8Array, { id, key }: VendorSigningKey): string {
  const head = Buffer.from(JSON.stringify({ alg: 'PS256', kid: id })).toString('base64url')
  const signature = sign('sha256', Buffer.from(`${head}.${Buffer.from(body).toString('base64url')}`), {
    key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: 32
  })
  return `${head}..${signature.toString('base64url')}`
}

/** RFC 7519, as a vendor makes it: with the claims that are declared, and the event where its claims are that. */
async function withToken (verify: Token, request: WebhookRequest, by: Means): Promise<WebhookRequest> {
  const { reading, at, settings } = by
  const now = Math.floor(at.getTime() / 1000)
  const event = readRequest(request, reading)
  const claims: Record<string, Json> = {
    ...(reading.form === 'token' && claimsOf(Buffer.from(request.body).toString())),
    ...Object.fromEntries((verify.times ?? ['iat']).map((name) => [name, name === 'exp' ? now + 60 : now])),
    jti: randomUUID()
  }
  for (const [name, parts] of Object.entries(verify.claims ?? {})) {
    const [part, ...others] = parts
    const hash = typeof part === 'object' && 'hash' in part && others.length === 0 ? part : undefined
    const bytes = await event.bytesOf(hash === undefined ? parts : hash.of, { settings })
    claims[name] = Buffer.from(hash === undefined || bytes === undefined ? bytes ?? '' : hashed(hash, bytes)).toString()
  }
  const secret = 'secret' in verify.key ? secretBytes(textIn(settings, verify.key.secret), verify.key) ?? Buffer.alloc(0) : undefined
  const token = secret === undefined
    ? await new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader({ alg: verify.algorithm, typ: 'JWT' })
      .sign(by.key.pairs[familyOf(verify.algorithm)]().privateKey)
    : macToken({ alg: verify.algorithm, typ: 'JWT' }, claims, secret)
  if (verify.at === 'body') return { ...request, body: Buffer.from(token) }
  const place = verify.at ?? bearer
  const isBearer = 'header' in place && place.header.toLowerCase() === 'authorization'
  const placed = await withPlaced(request, place, `${isBearer ? 'Bearer ' : ''}${token}`, reading)
  return reading.form === 'token' ? { ...placed, body: Buffer.alloc(0) } : placed
}

/** jose signs with no empty key, as a forger may. */
function macToken (header: { alg: string, typ: string }, claims: JsonObject, secret: Buffer): string {
  const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${text}.${createHmac(`sha${header.alg.slice(2)}`, secret).update(text).digest('base64url')}`
}

async function withSecret ({ at, prefix = '', secret }: PlainSecret, request: WebhookRequest, by: Means): Promise<WebhookRequest> {
  return await withPlaced(request, at, `${prefix}${textIn(by.settings, secret)}`, by.reading)
}

function credentialsOf ({ user, password }: Basic, settings: JsonObject, endpoint: string): [string, string] {
  const [name = '', secret = ''] = endpoint.split(':')
  const own: [string, string] = [textIn(settings, user), textIn(settings, password)]
  return own.join('') === '' ? [name, secret] : own
}

function textIn (settings: JsonObject, field = ''): string {
  const value = settings[field]
  return typeof value === 'string' ? value : ''
}
