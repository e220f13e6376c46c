import { randomBytes } from 'node:crypto'

/** The secret of a session, of a sign-in that waits or of a one-time link: 32 random bytes in base64url. Only its digest is kept. */
export function makeSecret (): string {
  return randomBytes(32).toString('base64url')
}

export const secretForm = /^[\w-]{43}$/
