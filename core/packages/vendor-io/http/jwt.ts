import type { Json } from '@dispatch/common'
import { SignJWT } from 'jose'
import { createPrivateKey, type KeyObject, randomUUID } from 'node:crypto'
import { RequestFailure } from '../outcome/request-outcome.ts'

/**
 * A JSON Web Token (RFC 7519) that the host signs. `key` is a private key in PEM, or the shared secret of HS256. `lifetime` is in seconds,
 * by default 300. `claims` are further ones.
 */
export type Jwt = {
  algorithm: 'RS256' | 'ES256' | 'EdDSA' | 'HS256'
  key: string
  keyId?: string
  issuer?: string
  subject?: string
  audience?: string
  lifetime?: number
  claims?: Readonly<Record<string, Json>>
}

/** The default lifetime of a token in seconds. */
export const usualLifetime = 300

/** A signed token that is valid from `now` on. Throws a {@link RequestFailure} when the key cannot sign it. */
export async function signJwt (
  { algorithm, key, keyId, issuer, subject, audience, lifetime = usualLifetime, claims }: Jwt,
  now: Date
): Promise<string> {
  const issued = Math.floor(now.getTime() / 1000)
  const jwt = new SignJWT({ ...claims, jti: randomUUID() })
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) })
    .setIssuedAt(issued).setExpirationTime(issued + lifetime)
  if (issuer !== undefined) jwt.setIssuer(issuer)
  if (subject !== undefined) jwt.setSubject(subject)
  if (audience !== undefined) jwt.setAudience(audience)
  const signer = keyOf(algorithm, key)
  try {
    return await jwt.sign(signer)
  } catch (cause) {
    throw unusable(`The key of the settings cannot sign with ${algorithm}.`, cause)
  }
}

function keyOf (algorithm: Jwt['algorithm'], key: string): KeyObject | Uint8Array {
  if (algorithm === 'HS256') return Buffer.from(key)
  try {
    return createPrivateKey(key)
  } catch (cause) {
    throw unusable('The private key of the settings cannot be read: it is PEM, beginning with "-----BEGIN".', cause)
  }
}

function unusable (message: string, cause: unknown): RequestFailure {
  return new RequestFailure('refused', message, { word: 'authentication_error', cause })
}
