import { hash } from 'node:crypto'
import { DispatchError, type Budget } from '../contract/errors.ts'
import { clientOf } from './networks.ts'

/** Counts clients; see the store's limiter. */
type Counter = {
  take: (client: string) => Promise<Budget & { exceeded: boolean }>
  giveBack: (client: string) => Promise<void>
}

/** Where users have given their right password before. */
export type KnownClients = {
  isKnown: (userId: number, client: string) => Promise<boolean>
  remember: (userId: number, client: string) => Promise<void>
}

/** One try at a password: whose, under which name, from where. `userId` 0: nobody has the name. */
export type Try = { userId: number, email: string, address: string }

/** Keeps passwords from being guessed. Both throw `rate_limited`. */
export type Guesses = {
  /** Counts a try before it is made, so that tries at the same moment are not free; answers how to say that it was right. */
  begin: (attempt: Try) => Promise<() => Promise<void>>
  /** Counts a key that does not exist. */
  wrongKey: (address: string) => Promise<void>
}

/**
 * Wrong passwords count twice. By the client's address: that stops one machine. By the account, and there apart for every
 * address from which it was logged in to before: all strangers together share one count, so that many machines get no more
 * guesses than one, and cannot lock out people who come from where they always come from.
 */
export function createGuesses ({ addresses, accounts, known }: { addresses: Counter, accounts: Counter, known: KnownClients }): Guesses {
  return {
    async begin ({ userId, email, address }) {
      const client = clientOf(address)
      refuseBeyond(await addresses.take(client), 'from this address')
      // A name may be longer than the key of a counter.
      const account = hash('sha256', email, 'base64url')
      const counted = await known.isKnown(userId, client) ? `${account} ${client}` : account
      refuseBeyond(await accounts.take(counted), 'for this account')
      return async () => {
        await Promise.all([addresses.giveBack(client), accounts.giveBack(counted), known.remember(userId, client)])
      }
    },
    async wrongKey (address) {
      refuseBeyond(await addresses.take(clientOf(address)), 'from this address')
    }
  }
}

function refuseBeyond ({ exceeded, ...budget }: Budget & { exceeded: boolean }, where: string): void {
  if (exceeded) throw new DispatchError('rate_limited', `Too many wrong credentials ${where}: try again in ${budget.reset} seconds.`, { budget, retryAfter: budget.reset })
}
