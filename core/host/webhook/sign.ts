import type { JsonObject } from '@dispatch/common'
import { constants, createHmac, generateKeyPairSync, hash, type KeyObject, randomUUID, sign } from 'node:crypto'
import { basicHeader } from '../http/basic-auth.ts'
import { stampedMac, standardHeaders, standardKey, standardMac } from './message-signature.ts'
import type { WebhookRequest } from './signature.ts'
import type { KeySet, Verifier } from './webhook.ts'

/** A vendor's key pair, with the key set that it publishes. */
export type VendorSigningKey = { id: string, key: KeyObject, jwks: KeySet }

export function createVendorSigningKey (id: string): VendorSigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    id,
    key: privateKey,
    jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }) as JsonObject, kid: id, alg: 'PS256', use: 'sig' }] }
  }
}

/** A vendor's means to sign: its key, the settings of the configuration, and the server's own credentials (`user:password`). */
export type SignWith = { key: VendorSigningKey, settings: JsonObject, endpoint: string }

/** An event that a vendor sends at time `at`, signed in the ways that the verifiers check. */
export function signDelivery (verifiers: readonly Verifier[], body: Buffer, by: SignWith, at: Date): WebhookRequest {
  return { body, headers: Object.fromEntries(verifiers.flatMap((verify) => Object.entries(signed(verify, body, by, at)))) }
}

function signed (verify: Verifier, body: Buffer, { key, settings, endpoint }: SignWith, at: Date): Record<string, string> {
  switch (verify.kind) {
    case 'jws':
      return { [verify.header.toLowerCase()]: signJws(body, key) }
    case 'basic':
      return { authorization: basicHeader(...credentialsOf(verify, settings, endpoint)) }
    case 'hmac':
      return signHmac(verify, body, textIn(settings, verify.secret), at)
    case 'jwt':
      return signJwt(verify, body, textIn(settings, verify.secret), at)
    case 'standard':
      return signStandard(verify, body, textIn(settings, verify.secret), at)
    case 'stamped':
      return signStamped(verify, body, textIn(settings, verify.secret), at)
  }
}

/** RFC 7515, appendix F; PS256 is RSASSA-PSS with SHA-256 and a salt as long as the hash (RFC 7518, 3.5). */
function signJws (body: Buffer, { id, key }: VendorSigningKey): string {
  const head = Buffer.from(JSON.stringify({ alg: 'PS256', kid: id })).toString('base64url')
  const signature = sign('sha256', Buffer.from(`${head}.${body.toString('base64url')}`), {
    key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: 32
  })
  return `${head}..${signature.toString('base64url')}`
}

function credentialsOf (
  { user, password }: Extract<Verifier, { kind: 'basic' }>,
  settings: JsonObject,
  endpoint: string
): [string, string] {
  const [name = '', secret = ''] = endpoint.split(':')
  const own: [string, string] = [textIn(settings, user), textIn(settings, password)]
  return own.join('') === '' ? [name, secret] : own
}

function textIn (settings: JsonObject, field = ''): string {
  const value = settings[field]
  return typeof value === 'string' ? value : ''
}

function signHmac (
  { header, encoding, prefix = '', timestamp }: Extract<Verifier, { kind: 'hmac' }>,
  body: Buffer,
  secret: string,
  at: Date
): Record<string, string> {
  const time = timestamp?.unit === 'milliseconds' ? String(at.getTime()) : secondsOf(at)
  const mac = createHmac('sha256', secret)
  if (timestamp !== undefined) mac.update(`${time}.`)
  return {
    [header.replace(/\*$/, '1').toLowerCase()]: `${prefix}${mac.update(body).digest(encoding)}`,
    ...(timestamp !== undefined && { [timestamp.header.toLowerCase()]: time })
  }
}

/** RFC 7519, as a vendor makes it: with the hash of the body in a claim. */
function signJwt (
  { header = 'authorization', algorithm, claim = 'payload_hash', encoding = 'hex', issuer }: Extract<Verifier, { kind: 'jwt' }>,
  body: Buffer,
  secret: string,
  at: Date
): Record<string, string> {
  const iat = Math.floor(at.getTime() / 1000)
  const claims = { iat, jti: randomUUID(), ...(issuer !== undefined && { iss: issuer }), [claim]: hash('sha256', body, encoding) }
  const signed = [{ alg: algorithm, typ: 'JWT' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const token = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
  return { [header.toLowerCase()]: header.toLowerCase() === 'authorization' ? `Bearer ${token}` : token }
}

/** Without a usable secret it signs with an empty key, as a forger would. */
function signStandard (
  verify: Extract<Verifier, { kind: 'standard' }>,
  body: Buffer,
  secret: string,
  at: Date
): Record<string, string> {
  const names = standardHeaders(verify)
  const [id, time] = [`msg_${randomUUID()}`, secondsOf(at)]
  const mac = standardMac(standardKey(secret) ?? Buffer.alloc(0), { id, time, body })
  return { [names.id]: id, [names.time]: time, [names.signature]: `v1,${mac.toString('base64')}` }
}

function signStamped (
  { header }: Extract<Verifier, { kind: 'stamped' }>,
  body: Buffer,
  secret: string,
  at: Date
): Record<string, string> {
  const time = secondsOf(at)
  return { [header.toLowerCase()]: `t=${time},v1=${stampedMac(secret, { time, body }).toString('hex')}` }
}

function secondsOf (at: Date): string {
  return String(Math.floor(at.getTime() / 1000))
}
