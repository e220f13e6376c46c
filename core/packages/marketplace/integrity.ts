import { createHash } from 'node:crypto'
import { MarketplaceRefusal } from './refusal.ts'

/** The SHA-512 of bytes, in the form of Subresource Integrity and of npm's lock files. */
export function integrityOf (bytes: Uint8Array): string {
  return `sha512-${createHash('sha512').update(bytes).digest('base64')}`
}

/** Throws unless the bytes have this integrity. `what` names them. */
export function checkIntegrity (bytes: Uint8Array, integrity: string, what: string): void {
  const found = integrityOf(bytes)
  if (found === integrity) return
  throw new MarketplaceRefusal('integrity_mismatch', `The integrity of ${what} is ${found}, but ${integrity} was announced.`)
}
