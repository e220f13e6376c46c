import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** An encrypted record as it is stored: JSON, with binary fields in base64 (each: 12 bytes IV, ciphertext, 16 bytes tag). */
export type Envelope = {
  v: 1
  /** The id of the master key that wrapped the data key. */
  kid: string
  /** The record's data key, encrypted under the master key. A key rotation replaces only this field. */
  wrappedKey: string
  /** The record, encrypted under its data key. */
  sealed: string
}

/** Encrypts ("seals") and decrypts ("opens") the secrets of the service. */
export type Keyring = {
  /** The id of the master key that seals. */
  kid: string
  /** The ids of all master keys that open; the first one also seals. */
  kids: readonly string[]
  /** `context` names the record and its owner (for example `company|provider|scope`). The record opens only with the same context. */
  seal: (plain: Uint8Array | string, context: string) => Envelope
  /** Throws a {@link SealError} when the envelope was altered, or belongs to another context or another master key. */
  open: (envelope: Envelope, context: string) => Buffer
  /** Wraps the record's data key under the current master key; the sealed record itself is unchanged. Throws as `open`. */
  rewrap: (envelope: Envelope) => Envelope
}

/** A sealed record cannot be opened. */
export class SealError extends Error {
  override name = 'SealError'
}

/**
 * Envelope encryption under the master key (32 bytes): AES-256-GCM with a new data key for every record. Records sealed under `previous`
 * open too, so the service can read all secrets while they are rewrapped. Opening throws a {@link SealError} for what was sealed under
 * another key or for something else, and for what was altered.
 */
export function createKeyring (masterKey: Uint8Array, previous?: Uint8Array): Keyring {
  const current = wrapperOf(masterKey)
  const wrappers = previous === undefined ? [current] : [current, wrapperOf(previous)]

  function dataKeyOf ({ kid, wrappedKey }: Envelope): Buffer {
    const wrapper = wrappers.find((known) => known.kid === kid)
    if (wrapper === undefined) {
      throw new SealError(`A stored secret is sealed under the master key ${kid}, but this service has ${current.kid}: start it with the ` +
        'DISPATCH_MASTER_KEY that sealed it.')
    }
    return opened(() => decrypt(wrapper.key, wrappedKey, kid))
  }

  return {
    kid: current.kid,
    kids: wrappers.map(({ kid }) => kid),
    seal (plain, context) {
      const dataKey = randomBytes(32)
      return { v: 1, ...wrap(current, dataKey), sealed: encrypt(dataKey, typeof plain === 'string' ? Buffer.from(plain) : plain, context) }
    },
    open (envelope, context) {
      const dataKey = dataKeyOf(envelope)
      return opened(() => decrypt(dataKey, envelope.sealed, context))
    },
    rewrap: (envelope) => ({ ...envelope, ...wrap(current, dataKeyOf(envelope)) })
  }
}

function opened (decryption: () => Buffer): Buffer {
  try {
    return decryption()
  } catch (cause) {
    throw new SealError('A stored secret cannot be opened: it was altered, or it belongs to another record.', { cause })
  }
}

/** The wrapping key that is derived from a master key, and the master key's id. */
type Wrapper = { kid: string, key: Buffer }

function wrapperOf (masterKey: Uint8Array): Wrapper {
  return { kid: derive(masterKey, 'key id', 8).toString('hex'), key: derive(masterKey, 'key wrapping', 32) }
}

function wrap ({ kid, key }: Wrapper, dataKey: Uint8Array): Pick<Envelope, 'kid' | 'wrappedKey'> {
  return { kid, wrappedKey: encrypt(key, dataKey, kid) }
}

/** HKDF (RFC 5869): derives an independent key for each use. None of them reveals the master key. */
function derive (masterKey: Uint8Array, use: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, '', `document-dispatch ${use}`, length))
}

const cipher = 'aes-256-gcm'
const ivLength = 12
const authTagLength = 16

function encrypt (key: Uint8Array, plain: Uint8Array, context: string): string {
  const iv = randomBytes(ivLength)
  const gcm = createCipheriv(cipher, key, iv, { authTagLength }).setAAD(Buffer.from(context))
  return Buffer.concat([iv, gcm.update(plain), gcm.final(), gcm.getAuthTag()]).toString('base64')
}

function decrypt (key: Uint8Array, sealed: string, context: string): Buffer {
  const bytes = Buffer.from(sealed, 'base64')
  const gcm = createDecipheriv(cipher, key, bytes.subarray(0, ivLength), { authTagLength })
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(-authTagLength))
  return Buffer.concat([gcm.update(bytes.subarray(ivLength, -authTagLength)), gcm.final()])
}
