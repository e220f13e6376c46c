import { createFairSemaphore, createRecent } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { clientKeyOf } from './networks.ts'
import { waitingClient } from './waiting-client.ts'

/**
 * Look-ups in the database by what clients have sent of whom nothing is known. Both throw `rate_limited` where too many wait, or wait for
 * too long, and the reason of its signal where the client has gone before its turn. `address`: the client's.
 */
export type UnknownSecrets = {
  /** Runs a look-up when it is the turn of its address. */
  inTurn: <Found>(address: string, lookup: () => Promise<Found>) => Promise<Found>
  /** Looks up a secret by its digest: at once where it was found here before, otherwise in turn. */
  find: <Found>(digest: Buffer, address: string, lookup: (digest: Buffer) => Promise<Found | undefined>) => Promise<Found | undefined>
  /** A secret that has just been made here is known. */
  learn: (digest: Buffer) => void
}

/** Look-ups at once: half of the connections that such look-ups share with the service's own statements. */
const total = 2
/** Of one address, and of all together. */
const [waiting, waitingInAll] = [500, 2_000]
/** In milliseconds. */
const timeLimit = 10_000
/** How many secrets are remembered, by their digests. */
const maxKnown = 10_000

/**
 * Has the look-ups of made-up sessions, keys and e-mail addresses take turns by address, so that a flood of them leaves connections to
 * everybody else. Who is signed in waits for nobody.
 */
export function createUnknownSecrets (): UnknownSecrets {
  const known = createRecent<string, true>(maxKnown)
  const semaphore = createFairSemaphore({
    waiting,
    waitingInAll,
    total,
    timeLimit,
    full: () =>
      new DispatchError('rate_limited', 'Too many unknown credentials are being looked up: try again in a second.', { retryAfter: 1 })
  })
  const inTurn: UnknownSecrets['inTurn'] = (address, lookup) => semaphore.run(clientKeyOf(address), lookup, waitingClient()?.gone)
  return {
    inTurn,
    async find (digest, address, lookup) {
      const name = nameOf(digest)
      const found = known.has(name) ? await lookup(digest) : await inTurn(address, () => lookup(digest))
      if (found === undefined) known.delete(name)
      else known.set(name, true)
      return found
    },
    learn (digest) {
      known.set(nameOf(digest), true)
    }
  }
}

function nameOf (digest: Buffer): string {
  return digest.toString('base64')
}
