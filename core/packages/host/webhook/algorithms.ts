import { constants, createHmac, type KeyObject, verify } from 'node:crypto'
import type { Mac, SignatureAlgorithm, TextEncoding } from './language.ts'

/** RSA keys below this many bits prove nothing. */
const leastRsaBits = 2048

/** How a signature by a public key is computed. `fits`: whether a key is of its kind. */
type Scheme = { digest: 'sha1' | 'sha256' | 'sha512' | null, padding?: number, fits: (key: KeyObject) => boolean }

const isRsa = (key: KeyObject): boolean => key.asymmetricKeyType === 'rsa' && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= leastRsaBits

/** RSA is PKCS#1 v1.5, but where it is PSS, with a salt as long as the hash. */
export const schemes: Record<SignatureAlgorithm, Scheme> = {
  'ecdsa-p256-sha256': {
    digest: 'sha256',
    fits: (key) => key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1'
  },
  ed25519: { digest: null, fits: (key) => key.asymmetricKeyType === 'ed25519' },
  'rsa-sha256': { digest: 'sha256', fits: isRsa },
  'rsa-sha512': { digest: 'sha512', fits: isRsa },
  'rsa-sha1': { digest: 'sha1', fits: isRsa },
  'rsa-pss-sha256': { digest: 'sha256', padding: constants.RSA_PKCS1_PSS_PADDING, fits: isRsa }
}

/** Length in bytes of an ECDSA signature for P-256 that is two numbers (IEEE P1363); others are DER. */
const twoNumbers = 64

/** Whether a signature of bytes is valid under one of the keys. */
export function isSignedBy (algorithm: SignatureAlgorithm, keys: readonly KeyObject[], signed: Uint8Array, signature: Uint8Array): boolean {
  const { digest, padding, fits } = schemes[algorithm]
  return keys.filter(fits).some((key) =>
    verify(digest, signed, {
      key,
      ...(padding !== undefined && { padding, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }),
      ...(algorithm === 'ecdsa-p256-sha256' && signature.byteLength === twoNumbers && { dsaEncoding: 'ieee-p1363' as const })
    }, signature)
  )
}

export function macOf (algorithm: Mac, key: Uint8Array, signed: Uint8Array): Buffer {
  return createHmac(algorithm.slice('hmac-'.length), key).update(signed).digest()
}

const base64Key = /^[A-Za-z0-9+/]{4,}={0,2}$/
const encodedKeys: Record<TextEncoding, RegExp> = { hex: /^([0-9a-fA-F]{2})+$/, base64: base64Key, base64url: /^[A-Za-z0-9_-]{4,}={0,2}$/ }

/** The bytes of a secret as it is written; undefined for an empty one, or for what is not written so. */
export function secretBytes (
  secret: string | undefined,
  { encoding, prefix = '' }: { encoding?: TextEncoding, prefix?: string }
): Buffer | undefined {
  if (secret === undefined || secret === '') return undefined
  const text = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret
  if (encoding === undefined) return text === '' ? undefined : Buffer.from(text)
  return encodedKeys[encoding].test(text) ? Buffer.from(text, encoding) : undefined
}
