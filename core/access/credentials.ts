import { createHmac, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { normaliseEmail, type Account, type Accounts } from './account.ts'
import type { Guesses, Try } from './guesses.ts'
import { passwordMatches, unusableHash } from './passwords.ts'
import { createTurns } from './turns.ts'

/** Tells whose e-mail and password these are. */
export type Credentials = {
  /**
   * The account, disabled or not, as it is now; undefined when no account has this e-mail with this password. `address` is the
   * client's. Throws `rate_limited` after too many wrong ones, or when more passwords wait to be verified than can be.
   */
  verify: (email: string, password: string, address: string) => Promise<Account | undefined>
}

/** How long a verified password is believed, in milliseconds. */
const trustedFor = 60_000
const mostTrusted = 10_000
/** Half of libuv's default threads: a flood of logins must leave some for files and names. */
const mostAtOnce = 2

/**
 * Verifies passwords against the accounts, and remembers for a minute which ones were right.
 * The account is read every time; a new password version makes what was remembered unreachable. Nothing that could
 * be reversed is kept: the key is an HMAC under a secret of this process, the value is only an expiry.
 * Unknown e-mails cost what known ones cost. Without `guesses` anybody may try as often as they like. `matches` is replaced
 * only to be counted.
 */
export function createCredentials ({ accounts, guesses, now, matches = passwordMatches }: {
  accounts: Accounts
  guesses?: Guesses | undefined
  now: () => Date
  matches?: typeof passwordMatches
}): Credentials {
  const secret = randomBytes(32)
  const trustedUntil = new LRUCache<string, number>({ max: mostTrusted })
  const underWay = new Map<string, Promise<boolean>>()
  const turns = createTurns(mostAtOnce)

  /** What has waited is counted when its turn comes: until then others may have used up the limit, and it costs nothing. */
  async function attempt (passwordHash: string, password: string, made: Try): Promise<boolean> {
    const right = await guesses?.begin(made)
    const isRight = await matches(passwordHash, password)
    if (isRight) await right?.()
    return isRight
  }

  function check (key: string, ...tried: Parameters<typeof attempt>): Promise<boolean> {
    const running = underWay.get(key)
    if (running !== undefined) return running
    const started = turns(() => attempt(...tried)).finally(() => underWay.delete(key))
    underWay.set(key, started)
    return started
  }

  return {
    async verify (email, password, address) {
      const name = normaliseEmail(email)
      const account = isPlausible(name) ? await accounts.byEmail(name) : undefined
      const { userId, passwordVersion, passwordHash } = account ?? nobody
      const key = createHmac('sha256', secret).update(JSON.stringify([userId, passwordVersion, name, password])).digest('base64')
      if ((trustedUntil.get(key) ?? 0) > now().getTime()) return account
      if (!await check(key, passwordHash, password, { userId, email: name, address })) return undefined
      trustedUntil.set(key, now().getTime() + trustedFor)
      return account
    }
  }
}

const nobody = { userId: 0, passwordVersion: 0, passwordHash: unusableHash }

/** Whether a text can be an address at all: RFC 5321 allows 254 characters, and a database cannot hold NUL. */
function isPlausible (email: string): boolean {
  return email.length <= 254 && !/\p{Cc}/u.test(email)
}
