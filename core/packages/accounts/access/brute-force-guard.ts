import { DispatchError, type RateLimitStatus } from '@dispatch/contract'
import { hash } from 'node:crypto'
import { clientKeyOf } from './networks.ts'

/** Counts attempts per client; see the store's rate limiter. */
type Counter = {
  take: (client: string) => Promise<RateLimitStatus & { exceeded: boolean }>
  spent: (client: string) => RateLimitStatus | undefined
  giveBack: (client: string) => Promise<void>
}

/** The clients from which users have logged in successfully before. */
export type KnownClients = {
  /** Those of the users who have logged in from this client. */
  amongKnown: (users: readonly number[], client: string) => Promise<readonly number[]>
  remember: (userId: number, client: string) => Promise<void>
}

/** One attempt to log in: the e-mail address, the users who have it, and the client's IP address. */
export type LoginAttempt = { email: string, users: readonly number[], address: string }

/** The users whose passwords may be checked now. `right` is called when the password was right for one of them. */
export type Admitted = { users: readonly number[], right: (userId: number) => Promise<void> }

/** Limits attempts to guess passwords and API keys. */
export type BruteForceGuard = {
  /** Whether a known client has used up its attempts for an account, as far as this process knows. Neither counts nor reads anything. */
  isExhausted: (userId: number, address: string) => boolean
  /** Counts an attempt before it is made, so that simultaneous attempts count too. Throws `rate_limited` if no attempt may be made. */
  begin: (attempt: LoginAttempt) => Promise<Admitted>
  /** Counts a code of a second factor before it is checked. `right` is called when it was right. Throws `rate_limited`. */
  beginCode: (userId: number, address: string) => Promise<{ right: () => Promise<unknown> }>
  /** Counts a key that does not exist. Throws `rate_limited`. */
  countUnknownKey: (address: string) => Promise<void>
}

/**
 * Every wrong password is counted twice. Once for the client's IP address: this stops a single machine. Once for the e-mail address: all
 * unknown clients share this count, so many machines get no more attempts than one. A client from which the user has logged in before has
 * its own two counts for that account. So neither unknown clients nor wrong passwords for other accounts lock a user out of a client that
 * they have used before. Codes of a second factor are few: a user has one count of wrong ones for all clients, known or not. Only who has
 * the password can use it up. Too many are refused with `rate_limited`, which tells in how many seconds it can be tried again.
 */
export function createBruteForceGuard ({ addresses, accounts, codes, known }: {
  addresses: Counter
  accounts: Counter
  codes: Counter
  known: KnownClients
}): BruteForceGuard {
  /** Counts an attempt for the address and, unless that is refused, for the e-mail address. */
  async function take (place: string, name: string, users: readonly number[], counter = accounts): Promise<Taken> {
    const ofAddress = await addresses.take(place)
    if (ofAddress.exceeded) return { users, refused: refusal(ofAddress, fromAddress), giveBack: () => addresses.giveBack(place) }
    const ofName = await counter.take(name)
    const refused = ofName.exceeded ? refusal(ofName, 'for this account') : undefined
    return { users, refused, giveBack: () => Promise.all([addresses.giveBack(place), counter.giveBack(name)]) }
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
    async beginCode (userId, address) {
      const { refused, giveBack } = await take(clientKeyOf(address), String(userId), [userId], codes)
      if (refused !== undefined) throw refused
      return { right: giveBack }
    },
    async countUnknownKey (address) {
      const budget = await addresses.take(clientKeyOf(address))
      if (budget.exceeded) throw refusal(budget, fromAddress)
    }
  }
}

type Taken = { users: readonly number[], refused: DispatchError | undefined, giveBack: () => Promise<unknown> }

const fromAddress = 'from this address'

/** The key of an e-mail address's counter. A digest, because an address may be longer than a counter's key. */
function nameOf (email: string): string {
  return hash('sha256', email, 'base64url')
}

/** The counter key of one user on one known client. */
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
