import { hash } from 'node:crypto'
import { DispatchError, type RateLimitStatus } from '../contract/errors.ts'
import { clientKeyOf } from './networks.ts'

/** Counts clients; see the store's limiter. */
type Counter = {
  take: (client: string) => Promise<RateLimitStatus & { exceeded: boolean }>
  spent: (client: string) => RateLimitStatus | undefined
  giveBack: (client: string) => Promise<void>
}

/** Where users have given their right password before. */
export type KnownClients = {
  /** Which of the users. */
  amongKnown: (users: readonly number[], client: string) => Promise<readonly number[]>
  remember: (userId: number, client: string) => Promise<void>
}

/** One try at a password: under which name, whose accounts have it, and from where. */
export type LoginAttempt = { email: string, users: readonly number[], address: string }

/** At whose accounts a try may be made, and how to say that it was right. */
export type Admitted = { users: readonly number[], right: (userId: number) => Promise<void> }

/** Keeps passwords from being guessed. */
export type BruteForceGuard = {
  /** Whether this process has seen the tries at an account spent that an address has by itself; it counts nothing and asks nobody. */
  isExhausted: (userId: number, address: string) => boolean
  /** Counts a try before it is made, so that tries at the same moment are not free. Throws `rate_limited` where none may be made. */
  begin: (attempt: LoginAttempt) => Promise<Admitted>
  /** Counts a key that does not exist. Throws `rate_limited`. */
  countUnknownKey: (address: string) => Promise<void>
}

/**
 * Wrong passwords count twice. By the client's address: that stops one machine. By the e-mail address: all strangers together share one
 * count, so that many machines get no more guesses than one. A client from which a user was logged in to before has both counts of
 * its own for that account: neither strangers nor guesses at the accounts of others lock out who comes from where they always come from.
 */
export function createBruteForceGuard ({ addresses, accounts, known }: {
  addresses: Counter
  accounts: Counter
  known: KnownClients
}): BruteForceGuard {
  /** Counts a try at some accounts: of the address, and unless that is refused, of the name. */
  async function take (place: string, name: string, users: readonly number[]): Promise<Taken> {
    const ofAddress = await addresses.take(place)
    if (ofAddress.exceeded) return { users, refused: refusal(ofAddress, fromAddress), giveBack: () => addresses.giveBack(place) }
    const ofName = await accounts.take(name)
    const refused = ofName.exceeded ? refusal(ofName, 'for this account') : undefined
    return { users, refused, giveBack: () => Promise.all([addresses.giveBack(place), accounts.giveBack(name)]) }
  }

  return {
    isExhausted (userId, address) {
      const own = ownCount(userId, clientKeyOf(address))
      return [addresses, accounts].some((counter) => counter.spent(own) !== undefined)
    },
    async begin ({ email, users, address }) {
      const client = clientKeyOf(address)
      const familiar = await known.amongKnown(users, client)
      const strange = users.filter((userId) => !familiar.includes(userId))
      const taken = await Promise.all([
        ...familiar.map((userId) => take(ownCount(userId, client), ownCount(userId, client), [userId])),
        ...strange.length > 0 || users.length === 0 ? [take(client, nameOf(email), strange)] : []
      ])
      const admitted = taken.filter(({ refused }) => refused === undefined)
      const [first] = taken
      if (admitted.length === 0 && first?.refused !== undefined) throw first.refused
      return {
        users: admitted.flatMap((one) => one.users),
        async right (userId) {
          await Promise.all([...taken.map(({ giveBack }) => giveBack()), known.remember(userId, client)])
        }
      }
    },
    async countUnknownKey (address) {
      const budget = await addresses.take(clientKeyOf(address))
      if (budget.exceeded) throw refusal(budget, fromAddress)
    }
  }
}

type Taken = { users: readonly number[], refused: DispatchError | undefined, giveBack: () => Promise<unknown> }

const fromAddress = 'from this address'

/** A name may be longer than the key of a counter. */
function nameOf (email: string): string {
  return hash('sha256', email, 'base64url')
}

/** What is counted of an account by itself for a client that is known. */
function ownCount (userId: number, client: string): string {
  return `${userId} ${client}`
}

function refusal ({ policy, quota, window, remaining, reset }: RateLimitStatus, where: string): DispatchError {
  const budget = { policy, quota, window, remaining, reset }
  return new DispatchError('rate_limited', `Too many wrong credentials ${where}: try again in ${reset} seconds.`, {
    budget,
    retryAfter: reset
  })
}
