import { createRecent } from '@dispatch/common'
import { createHmac, randomBytes } from 'node:crypto'
import { type Account, type Accounts, normaliseEmail } from './account.ts'
import type { BruteForceGuard } from './brute-force-guard.ts'
import { clientKeyOf } from './networks.ts'
import { createPasswordSemaphore, type Pace, type Timed } from './password-semaphore.ts'
import { hashingPace, passwordMatches, unusableHash } from './passwords.ts'
import type { UnknownSecrets } from './unknown-secrets.ts'
import { ClientGone, waitingClient } from './waiting-client.ts'

/** Verifies e-mail addresses with passwords. */
export type Credentials = {
  /**
   * Returns the current account, disabled or not, or undefined when no account has this e-mail address and password. If several accounts
   * have the address, the password decides; if they also share the password, the one whose password was set last. `address` is the client's
   * IP address. With `userId`, only this account counts. Throws `rate_limited` after too many wrong passwords, or when too many wait to be
   * verified.
   */
  verify: (email: string, password: string, address: string, userId?: number) => Promise<Account | undefined>
}

/** How long a verified password is remembered, in milliseconds. */
const trustedFor = 60_000
const maxTrusted = 10_000

/**
 * Verifies passwords, and remembers a right one for a minute, for the same client only: a remembered password must not tell another client
 * that its guess is right. It is ignored when the client has used up its attempts, and while other attempts of that client are not decided.
 * Clients with an earlier success do not wait for unknown clients: two passwords are verified at once, one of each kind, which uses half of
 * libuv's default threads.
 *
 * The accounts are read every time, and a new password version makes the remembered entry unreachable. The memory cannot be reversed: its
 * key is an HMAC under a secret of this process, its value an id and an expiry. An unknown e-mail address takes as long as a known one.
 * Without `bruteForceGuard` the number of attempts is not limited. Tests replace `matches` to count its calls, and `pace`, by which the
 * queues are as long as they are.
 */
export function createCredentials ({ accounts, unknownSecrets, bruteForceGuard, now, matches = passwordMatches, pace = hashingPace }: {
  accounts: Accounts
  unknownSecrets: UnknownSecrets
  bruteForceGuard?: BruteForceGuard | undefined
  now: () => Date
  matches?: typeof passwordMatches
  pace?: Pace
}): Credentials {
  const secret = randomBytes(32)
  const trusted = createRecent<string, { userId: number, until: number }>(maxTrusted)
  /** Undecided attempts: by e-mail address and client, then by the HMAC of the attempt. */
  const underWay = new Map<string, Map<string, Promise<number | undefined>>>()
  /** E-mail addresses with clients that have logged in successfully since this process started. */
  const proven = createRecent<string, true>(maxTrusted)
  const semaphores = { proven: createPasswordSemaphore(pace), unknown: createPasswordSemaphore(pace) }

  /** The user with this password. An attempt is counted when its wait ends: if the limit is used up by then, it costs nothing. */
  async function attempt (
    candidates: readonly Account[],
    password: string,
    { email, address }: { email: string, address: string },
    timed: Timed
  ): Promise<number | undefined> {
    const users = candidates.map(({ userId }) => userId)
    const admitted = await bruteForceGuard?.begin({ email, users, address }) ?? { users, right: () => Promise.resolve() }
    const tried = candidates.filter(({ userId }) => admitted.users.includes(userId))
    const hashes = (tried.length === 0 ? [nobody] : tried).map(({ passwordHash }) => passwordHash)
    const found = await timed(() => Promise.all(hashes.map((one) => matches(one, password))))
    const right = tried[found.indexOf(true)]
    if (right !== undefined) await admitted.right(right.userId)
    return right?.userId
  }

  /** Whether an address exists makes no difference to who waits: a client is known by its own success alone. */
  const accountsOf = (place: string, name: string, address: string): Promise<readonly Account[]> =>
    proven.has(place) ? accounts.byEmail(name) : unknownSecrets.inTurn(address, () => accounts.byEmail(name))

  const withPermit = <Result>(place: string, address: string, work: (timed: Timed) => Promise<Result>): Promise<Result> =>
    proven.has(place)
      ? semaphores.proven(place, work)
      : semaphores.unknown(clientKeyOf(address), work)

  function check (place: string, key: string, ...tried: Attempted): Promise<number | undefined> {
    const beside = underWay.get(place) ?? new Map<string, Promise<number | undefined>>()
    const running = beside.get(key)
    if (running !== undefined) {
      return running.catch((error: unknown) => {
        // Whoever began it has gone, and this client has not.
        if (error instanceof ClientGone && waitingClient()?.gone().aborted !== true) return check(place, key, ...tried)
        throw error
      })
    }
    const started = withPermit(place, tried[2].address, (timed) => attempt(...tried, timed)).finally(() => {
      beside.delete(key)
      if (beside.size === 0) underWay.delete(place)
    })
    underWay.set(place, beside.set(key, started))
    return started
  }

  /** The user whose password this was within the last minute, if the memory may be used. */
  function remembered (place: string, key: string, address: string): number | undefined {
    const { userId, until } = trusted.get(key) ?? { userId: 0, until: 0 }
    return until > now().getTime() && !underWay.has(place) && bruteForceGuard?.isExhausted(userId, address) !== true ? userId : undefined
  }

  return {
    async verify (email, password, address, only) {
      const name = normaliseEmail(email)
      const place = JSON.stringify([name, clientKeyOf(address)])
      const found = isPlausible(name) ? await accountsOf(place, name, address) : []
      const candidates = found.filter(({ userId }) => only === undefined || userId === only)
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

/** Who may be meant, by which password, and whence. */
type Attempted = [candidates: readonly Account[], password: string, from: { email: string, address: string }]

const nobody = { passwordHash: unusableHash }

/** Whether a text can be an e-mail address: RFC 5321 allows 254 characters, and PostgreSQL cannot store NUL. */
function isPlausible (email: string): boolean {
  return email.length <= 254 && !/\p{Cc}/u.test(email)
}
