import { createHmac, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { normaliseEmail, type Account, type Accounts } from './account.ts'
import { passwordMatches, unusableHash } from './passwords.ts'

/** Tells whose e-mail and password these are. */
export type Credentials = {
  /** The account, disabled or not, as it is now; undefined when no account has this e-mail with this password. */
  verify: (email: string, password: string) => Promise<Account | undefined>
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
 * Unknown e-mails cost what known ones cost. `matches` is replaced only to be counted.
 */
export function createCredentials ({ accounts, now, matches = passwordMatches }: {
  accounts: Accounts
  now: () => Date
  matches?: typeof passwordMatches
}): Credentials {
  const secret = randomBytes(32)
  const trustedUntil = new LRUCache<string, number>({ max: mostTrusted })
  const running = new Map<string, Promise<boolean>>()
  const limit = pLimit(mostAtOnce)

  function check (key: string, passwordHash: string, password: string): Promise<boolean> {
    const started = running.get(key) ?? limit(matches, passwordHash, password).finally(() => running.delete(key))
    running.set(key, started)
    return started
  }

  return {
    async verify (email, password) {
      const name = normaliseEmail(email)
      const account = isPlausible(name) ? await accounts.byEmail(name) : undefined
      const { userId, passwordVersion, passwordHash } = account ?? nobody
      const key = createHmac('sha256', secret).update(JSON.stringify([userId, passwordVersion, name, password])).digest('base64')
      if ((trustedUntil.get(key) ?? 0) > now().getTime()) return account
      if (!await check(key, passwordHash, password)) return undefined
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
