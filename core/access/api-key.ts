import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type KeyMode, keyModes } from './account.ts'

/** A key as its holder has it; of `secret` the service keeps only the digest. */
export type GeneratedKey = { secret: string, mode: KeyMode }

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Characters of 62: 160 bits, so that a plain digest is enough to keep them by. */
const randomLength = 27
/** Characters that any 32 bits fit into. */
const checksumLength = 6

const form = new RegExp(`^(dk_(${keyModes.join('|')})_[0-9A-Za-z]{${randomLength}})_([0-9A-Za-z]{${checksumLength}})$`)

/** Whether a text is meant to be a key, well-formed or not. */
export function isMeantAsKey (text: string): boolean {
  return text.startsWith('dk_')
}

/** `dk_live_<random>_<checksum>`: the beginning tells scanners of source code and logs what it is, the checksum that it is no example. */
export function makeKey (mode: KeyMode): GeneratedKey {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  const body = `dk_${mode}_${random}`
  return { secret: `${body}_${checksumOf(body)}`, mode }
}

/** Whether the checksum of a key fits it: what was mistyped or cut off is told from what is unknown. */
export function isWellFormed (secret: string): boolean {
  const [, body = '', , checksum] = form.exec(secret) ?? []
  return checksum !== undefined && checksumOf(body) === checksum
}

/** What a key is found by: a look-up by digest tells nothing about the key by its time, because nobody can choose digests. */
export function digestOf (secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** What a list shows of a key. */
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
