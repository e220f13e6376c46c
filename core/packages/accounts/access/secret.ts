import { randomBytes } from 'node:crypto'

/**
 * The secret of a session, of a sign-in that waits, of a one-time link or of a connection that is begun: 32 random bytes in base64url. It
 * is kept as its digest, or sealed.
 */
export function makeSecret (): string {
  return randomBytes(32).toString('base64url')
}

export const secretForm = /^[\w-]{43}$/
