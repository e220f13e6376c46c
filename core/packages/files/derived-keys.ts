import { LRUCache } from 'lru-cache'
import { type CipherGCM, createCipheriv, createDecipheriv, createSecretKey, type DecipherGCM, hkdfSync, type KeyObject,
  randomBytes } from 'node:crypto'

/** A data key: 32 bytes. Its id has 16 bytes, and stands in all that it seals. As long as it is remembered, its bytes are one object. */
export type DataKey = { id: Uint8Array, secret: Uint8Array }

const cipher = 'aes-256-gcm'
const [idLength, saltLength, nonceLength] = [16, 16, 12]

export const tagLength = 16
/** The bytes before what is encrypted: the id of the data key, the salt of the key that is derived of it, a nonce. */
export const headLength = idLength + saltLength + nonceLength

/** The most that is sealed under one derived key: far below the 2^32 up to which random nonces are safe. */
const maxSealed = 2 ** 24
/** Salts of other processes, and of earlier times, whose keys are remembered for each data key. */
const maxSalts = 100

type SealingKey = { salt: Buffer, derived: KeyObject, sealed: number }

/**
 * Seals and opens with AES-256-GCM under keys that each process derives (HKDF-SHA-256, random salt) of data keys, so that no two processes
 * share one; all that is sealed has a nonce of its own. `use`: of what is sealed; no two uses share a key. What was derived of a data key
 * is remembered as long as its bytes are.
 */
export class DerivedKeys {
  readonly #use: string
  readonly #sealing = new WeakMap<Uint8Array, SealingKey>()
  readonly #opening = new WeakMap<Uint8Array, LRUCache<string, KeyObject>>()

  constructor (use: string) {
    this.#use = use
  }

  /** `context`: what is sealed opens with the same alone. */
  seal ({ id, secret }: DataKey, context: Uint8Array): { head: Uint8Array, gcm: CipherGCM } {
    const { salt, derived } = this.#sealingKey(secret)
    const nonce = freshNonce()
    return {
      head: Buffer.concat([id, salt, nonce]),
      gcm: createCipheriv(cipher, derived, nonce, { authTagLength: tagLength }).setAAD(context)
    }
  }

  open (secret: Uint8Array, head: Uint8Array, context: Uint8Array): DecipherGCM {
    const [salt, nonce] = [head.subarray(idLength, -nonceLength), head.subarray(-nonceLength)]
    return createDecipheriv(cipher, this.#derived(secret, salt), nonce, { authTagLength: tagLength }).setAAD(context)
  }

  #sealingKey (secret: Uint8Array): SealingKey {
    let key = this.#sealing.get(secret)
    if (key === undefined || key.sealed >= maxSealed) {
      const salt = randomBytes(saltLength)
      key = { salt, derived: this.#derived(secret, salt), sealed: 0 }
      this.#sealing.set(secret, key)
    }
    key.sealed++
    return key
  }

  #derived (secret: Uint8Array, salt: Uint8Array): KeyObject {
    let keys = this.#opening.get(secret)
    if (keys === undefined) this.#opening.set(secret, keys = new LRUCache({ max: maxSalts }))
    const name = Buffer.from(salt.buffer, salt.byteOffset, salt.byteLength).toString('latin1')
    const known = keys.get(name)
    if (known !== undefined) return known
    const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, salt, `document-dispatch ${this.#use}`, 32)))
    keys.set(name, key)
    return key
  }
}

/** The id of the data key, of the head of what it has sealed. */
export function keyIdOf (head: Uint8Array): Uint8Array {
  return head.subarray(0, idLength)
}

/** Random bytes for nonces, drawn for many at once: each draw costs as much as a nonce. */
let drawn = Buffer.alloc(0)

function freshNonce (): Buffer {
  if (drawn.length === 0) drawn = randomBytes(nonceLength * 256)
  const nonce = drawn.subarray(0, nonceLength)
  drawn = drawn.subarray(nonceLength)
  return nonce
}
