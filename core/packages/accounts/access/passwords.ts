import { normalForm } from '@dispatch/common'
import { hash, verify } from '@node-rs/argon2'
import { createPace, createPasswordSemaphore } from './password-semaphore.ts'
import { waitingClient } from './waiting-client.ts'

/** Argon2id with 19 MiB, two passes, one lane: the OWASP Password Storage Cheat Sheet's minimum, 5 to 20 ms. */
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** A well-formed hash that no password has (all zeros). Checking it takes as long as checking a real one. */
export const unusableHash = `$argon2id$v=19$m=${cost.memoryCost},t=${cost.timeCost},p=${cost.parallelism}$${'A'.repeat(22)}$${
  'A'.repeat(43)
}`

/** How long passwords take in this process. */
export const hashingPace = createPace()

let measurement: Promise<void> | undefined

/** Measures how long passwords take, once in a process: 15 to 60 ms of one of libuv's threads, for which nothing has to wait. */
export function measureHashing (): Promise<void> {
  measurement ??= hashingPace.measure(() => verify(unusableHash, ''))
  return measurement
}

/** Hashes one password at a time. With the two that are verified at once this uses three of libuv's four threads; one is left for files. */
const hashing = createPasswordSemaphore(hashingPace)

/**
 * The argon2id hash of a password, in the PHC string format. Companies take turns. Throws `rate_limited` when too many hashes are waiting.
 */
export function hashPassword (password: string): Promise<string> {
  return hashing(waitingClient()?.owner() ?? 'the service itself', (timed) => timed(() => hash(opaque(password), cost)))
}

/** Whether the hash is that of the password. Throws on a hash that is not in the PHC string format. */
export function passwordMatches (passwordHash: string, password: string): Promise<boolean> {
  return verify(passwordHash, opaque(password))
}

/** Normalises a password, because two keyboards may compose the same text differently (RFC 8265, OpaqueString). */
function opaque (password: string): string {
  return normalForm(password)
}
