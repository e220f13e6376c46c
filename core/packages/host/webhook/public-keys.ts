import { isRecord } from '@dispatch/common'
import { LRUCache } from 'lru-cache'
import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'

/** The most keys of a set that are read. */
const maxKeys = 50

/** A key with the time for which its certificate is valid, if it has one. */
type KnownKey = { key: KeyObject, from?: Date, until?: Date }

/**
 * The public keys in a text or in a set (JWKS), those that hold at a time. A text is a PEM of a key or of a certificate, the DER of a key
 * in base64, or the 32 bytes of an Ed25519 key in base64. Throws for a text that is none of them.
 */
export function publicKeysIn (keys: unknown): KeysAt {
  const all = typeof keys === 'string' ? [keyIn(keys.trim())] : keysOfSet(keys)
  return (at) =>
    all.filter(({ from, until }) => (from === undefined || from <= at) && (until === undefined || at <= until)).map(({ key }) => key)
}

/** The keys that hold at a time: those of a certificate outside of its dates do not. */
type KeysAt = (at: Date) => readonly KeyObject[]

/** The keys of texts that were read lately; undefined where there is none. */
const known = new LRUCache<string, { keys: KeysAt | undefined }>({ max: 200, memoMethod: (text) => ({ keys: readKeys(text) }) })

/** {@link publicKeysIn} of a text of the settings or of a manifest, read once; undefined where there is no key in it. */
export function knownKeysIn (text: string): KeysAt | undefined {
  return known.memo(text).keys
}

function readKeys (text: string): KeysAt | undefined {
  try {
    return publicKeysIn(text)
  } catch {
    return undefined
  }
}

function keyIn (text: string): KnownKey {
  if (text.startsWith('-----BEGIN CERTIFICATE-----')) {
    const certificate = new X509Certificate(text)
    return { key: certificate.publicKey, from: new Date(certificate.validFrom), until: new Date(certificate.validTo) }
  }
  if (text.startsWith('-----BEGIN PUBLIC KEY-----') || text.startsWith('-----BEGIN RSA PUBLIC KEY-----')) {
    return { key: createPublicKey(text) }
  }
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) throw new TypeError('This is no public key.')
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === 32
    ? { key: createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' }) }
    : { key: createPublicKey({ key: bytes, format: 'der', type: 'spki' }) }
}

/** What is no public key in a set is left out. */
function keysOfSet (set: unknown): KnownKey[] {
  const keys: unknown = isRecord(set) ? set['keys'] : undefined
  if (!Array.isArray(keys)) throw new TypeError('This is no set of keys.')
  return keys.slice(0, maxKeys).filter(isRecord).flatMap((jwk) => {
    const key = imported(jwk)
    return key === undefined ? [] : [{ key }]
  })
}

function imported (jwk: Record<string, unknown>): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    return undefined
  }
}
