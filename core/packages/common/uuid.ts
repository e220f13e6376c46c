import { hash } from 'node:crypto'

/** A UUID (RFC 9562, section 4), in upper or lower case. */
export const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Whether a text is a UUID in the service's form: lower case. */
export function isUuid (text: string): boolean {
  return uuidPattern.test(text) && text === text.toLowerCase()
}

/** The same UUID for the same facts (RFC 9562, 5.8). */
export function uuidOf (facts: readonly (string | number)[]): string {
  const digits = hash('sha256', JSON.stringify(facts)).slice(0, 32)
  const [a, b, c, d, e] = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(13, 16), digits.slice(17, 20), digits.slice(20, 32)]
  return `${a}-${b}-8${c}-8${d}-${e}`
}
