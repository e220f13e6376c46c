import { LRUCache } from 'lru-cache'
import { createHmac, randomBytes } from 'node:crypto'
import { type Account, type Accounts, normaliseEmail } from './account.ts'
import type { BruteForceGuard } from './brute-force-guard.ts'
import { clientKeyOf } from './networks.ts'
import { createPasswordSemaphore } from './password-semaphore.ts'
import { passwordMatches, unusableHash } from './passwords.ts'

/** Tells whose e-mail and password these are. */
export type Credentials = {
  /**
   * The account, disabled or not, as it is now; undefined when no account has this e-mail with this password. Of several the password
   * tells which; where two have the same, that of whom it was set last. `address` is the client's; `userId`: only this account will do.
   * Throws `rate_limited` after too many wrong ones, or when more passwords wait to be verified than can be.
   */
  verify: (email: string, password: string, address: string, userId?: number) => Promise<Account | undefined>
}

/** How long a verified password is believed, in milliseconds. */
const trustedFor = 60_000
const mostTrusted = 10_000

/**
 * Verifies passwords against the accounts, and remembers for a minute which ones were right, and from where: what is remembered
 * must not tell somebody elsewhere that a guess is right. Nor is it believed once the tries from there are spent, or while others
 * from there wait to be counted. Who was right from there before waits for no stranger: two are verified at once, one of each kind,
 * which is half of libuv's default threads.
 * The accounts are read every time; a new password version makes what was remembered unreachable. Nothing that could
 * be reversed is kept: the key is an HMAC under a secret of this process, the value is an id and an expiry.
 * Unknown e-mails cost what known ones cost. Without `guesses` anybody may try as often as they like. `matches` is replaced
 * only to be counted.
 */
export function createCredentials ({ accounts, bruteForceGuard, now, matches = passwordMatches }: {
  accounts: Accounts
  bruteForceGuard?: BruteForceGuard | undefined
  now: () => Date
  matches?: typeof passwordMatches
}): Credentials {
  const secret = randomBytes(32)
  const trusted = new LRUCache<string, { userId: number, until: number }>({ max: mostTrusted })
  /** The tries that are not decided yet: by their name and from where, then by the key of what is tried. */
  const underWay = new Map<string, Map<string, Promise<number | undefined>>>()
  /** Who was right, and from where, since this process began. */
  const proven = new LRUCache<string, true>({ max: mostTrusted })
  const turns = { ofProven: createPasswordSemaphore(), ofStrangers: createPasswordSemaphore() }

  /**
   * Whose password it is. What has waited is counted when its turn comes: until then others may have used up the limit, and it costs
   * nothing.
   */
  async function attempt (
    candidates: readonly Account[],
    password: string,
    { email, address }: { email: string, address: string }
  ): Promise<number | undefined> {
    const users = candidates.map(({ userId }) => userId)
    const admitted = await bruteForceGuard?.begin({ email, users, address }) ?? { users, right: () => Promise.resolve() }
    const tried = candidates.filter(({ userId }) => admitted.users.includes(userId))
    const found = await Promise.all((tried.length === 0 ? [nobody] : tried).map(({ passwordHash }) => matches(passwordHash, password)))
    const right = tried[found.indexOf(true)]
    if (right !== undefined) await admitted.right(right.userId)
    return right?.userId
  }

  const inTurn = <Result>(place: string, address: string, work: () => Promise<Result>): Promise<Result> =>
    proven.has(place)
      ? turns.ofProven(place, work)
      : turns.ofStrangers(clientKeyOf(address), work)

  function check (place: string, key: string, ...tried: Parameters<typeof attempt>): Promise<number | undefined> {
    const beside = underWay.get(place) ?? new Map<string, Promise<number | undefined>>()
    const running = beside.get(key)
    if (running !== undefined) return running
    const started = inTurn(place, tried[2].address, () => attempt(...tried)).finally(() => {
      beside.delete(key)
      if (beside.size === 0) underWay.delete(place)
    })
    underWay.set(place, beside.set(key, started))
    return started
  }

  /** Whose password this was a moment ago, if that may be believed. */
  function remembered (place: string, key: string, address: string): number | undefined {
    const { userId, until } = trusted.get(key) ?? { userId: 0, until: 0 }
    return until > now().getTime() && !underWay.has(place) && bruteForceGuard?.isExhausted(userId, address) !== true ? userId : undefined
  }

  return {
    async verify (email, password, address, only) {
      const name = normaliseEmail(email)
      const found = isPlausible(name) ? await accounts.byEmail(name) : []
      const candidates = found.filter(({ userId }) => only === undefined || userId === only)
      const place = JSON.stringify([name, clientKeyOf(address)])
      const versions = candidates.map(({ userId, passwordVersion }) => [userId, passwordVersion])
      const key = createHmac('sha256', secret).update(JSON.stringify([versions, place, password])).digest('base64')
      const known = remembered(place, key, address)
      const right = known ?? await check(place, key, candidates, password, { email: name, address })
      if (right === undefined) return undefined
      if (known === undefined) trusted.set(key, { userId: right, until: now().getTime() + trustedFor })
      proven.set(place, true)
      return candidates.find(({ userId }) => userId === right)
    }
  }
}

const nobody = { passwordHash: unusableHash }

/** Whether a text can be an address at all: RFC 5321 allows 254 characters, and a database cannot hold NUL. */
function isPlausible (email: string): boolean {
  return email.length <= 254 && !/\p{Cc}/u.test(email)
}
