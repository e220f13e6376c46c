import { hash, randomInt } from 'node:crypto'

/** Of Crockford's base 32, which has no letters that are easily taken for digits. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
/** 80 bits: enough to keep a code as a plain digest. */
const length = 16
const inGroupsOf = 4
const many = 10

/** Ten new recovery codes, such as `7k3m-9xq2-0fhv-tb4c`. */
export function makeRecoveryCodes (): string[] {
  return Array.from({ length: many },
    () =>
      Array.from({ length: length / inGroupsOf }, () =>
        Array.from({ length: inGroupsOf }, () => alphabet[randomInt(alphabet.length)]).join('')).join('-'))
}

/** The digest under which the recovery code of a user is kept. Case, spaces and dashes do not matter. */
export function recoveryDigest (userId: number, code: string): Buffer {
  return hash('sha256', `${userId} ${code.toLowerCase().replaceAll(/[\s-]/g, '')}`, 'buffer')
}
