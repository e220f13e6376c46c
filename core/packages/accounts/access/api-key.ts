import { type KeyMode, keyModes } from '@dispatch/contract'
import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** A new API key for its holder. The service stores only the digest of `secret`. */
export type GeneratedKey = { secret: string, mode: KeyMode }

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** In characters of a 62-character alphabet: 160 bits, enough to store the key as a plain digest without salt. */
const randomLength = 27
/** Characters of the same alphabet that hold any 32 bits. */
const checksumLength = 6

const form = new RegExp(`^(dk_(${keyModes.join('|')})_[0-9A-Za-z]{${randomLength}})_([0-9A-Za-z]{${checksumLength}})$`)

/** Whether a text looks like an API key, well-formed or not. */
export function isMeantAsKey (text: string): boolean {
  return text.startsWith('dk_')
}

/**
 * Makes an API key, `dk_live_<random>_<checksum>`: scanners of code and logs recognise the prefix, and the checksum shows that it is not an
 * example.
 */
export function makeKey (mode: KeyMode): GeneratedKey {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const body = `dk_${mode}_${random}`
  return { secret: `${body}_${checksumOf(body)}`, mode }
}

/** Whether a key has the right checksum. This tells a mistyped or truncated key from an unknown one. */
export function isWellFormed (secret: string): boolean {
  const [, body = '', , checksum] = form.exec(secret) ?? []
  return checksum !== undefined && checksumOf(body) === checksum
}

/** The digest by which a key is looked up. The time of the look-up reveals nothing about the key, because nobody can choose digests. */
export function digestOf (secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** The first and last characters of a key, which a list of keys shows. */
export function shownOf (secret: string): { beginning: string, ending: string } {
  return { beginning: secret.slice(0, secret.lastIndexOf('_', secret.lastIndexOf('_') - 1) + 5), ending: secret.slice(-4) }
}

function checksumOf (body: string): string {
  let rest = crc32(body)
  return Array.from({ length: checksumLength }, () => {
    const digit = alphabet[rest % alphabet.length] ?? ''
    rest = Math.floor(rest / alphabet.length)
    return digit
  }).reverse().join('')
}
