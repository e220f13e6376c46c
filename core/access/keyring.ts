import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** A sealed record, as it is stored: JSON, binary fields in base64 (each: 12 bytes iv, ciphertext, 16 bytes tag). */
export type Envelope = {
  v: 1
  /** Which master key wrapped the data key. */
  kid: string
  /** The record's own key, sealed under the master key: rotation replaces this field alone. */
  wrappedKey: string
  /** The record, sealed under its own key. */
  sealed: string
}

/** Seals and opens the secrets of the service. */
export type Keyring = {
  /** Of the master key that seals. */
  kid: string
  /** Of every master key that opens, the one that seals first. */
  kids: readonly string[]
  /** `context` says what the record is and whose (for example `company|provider|scope`): it opens only with the same. */
  seal: (plain: Uint8Array | string, context: string) => Envelope
  /** Throws a {@link SealError} when the envelope is altered, of another context, or under another master key. */
  open: (envelope: Envelope, context: string) => Buffer
  /** The same record as if it had been sealed now: only the wrapping of its own key is new. Throws as `open`. */
  rewrap: (envelope: Envelope) => Envelope
}

/** A sealed record cannot be opened. */
export class SealError extends Error {
  override name = 'SealError'
}

/**
 * Envelope encryption under the master key (32 bytes): AES-256-GCM, a fresh data key for every record. What was sealed under
 * `previous` opens too, so that a service goes on reading while its secrets are rewrapped.
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

/** What a master key wraps data keys with, and its name. */
type Wrapper = { kid: string, key: Buffer }

function wrapperOf (masterKey: Uint8Array): Wrapper {
  return { kid: derive(masterKey, 'key id', 8).toString('hex'), key: derive(masterKey, 'key wrapping', 32) }
}

function wrap ({ kid, key }: Wrapper, dataKey: Uint8Array): Pick<Envelope, 'kid' | 'wrappedKey'> {
  return { kid, wrappedKey: encrypt(key, dataKey, kid) }
}

/** HKDF (RFC 5869): independent keys for independent uses, none of which reveals the master key. */
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
