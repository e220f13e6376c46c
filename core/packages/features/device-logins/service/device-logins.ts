import { type Accounts, type Actor, type AuditAuthor, digestOf, type KeyAdministration, type RateLimiter,
  type Requester } from '@dispatch/accounts'
import { DispatchError, type KeyScope } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { randomBytes, randomInt } from 'node:crypto'
import type { DeviceAuthorization, DeviceBody, DeviceGrantBody, DeviceLoginView, DeviceToken } from '../contract/device-logins.ts'
import { ask, decide, type Decision, findWaiting, forgetLogin, insertLogin, type Reported } from '../store/device-logins.ts'

/** Where a request came from. */
type From = Pick<AuditAuthor, 'address' | 'requestId'>

/** Logins of devices (RFC 8628): a device shows a code, a person types it at the console, and the device gets a key of theirs. */
export type DeviceLogins = {
  /** Throws `conflict` where there is no console. */
  begin: (requested: DeviceBody, address: string) => Promise<DeviceAuthorization>
  /**
   * The key, once. Throws `authorization_pending`, `slow_down`, `access_denied` or `expired_token`, `conflict` where the person has too
   * many keys, and `rate_limited` for an address that asks for all too many. After a `conflict` or a failure the grant still stands.
   */
  take: (deviceCode: string, from: From) => Promise<DeviceToken>
  /** A login that waits. Throws `not_found`, and `rate_limited` for who has typed ten codes that there are not. */
  read: (actor: Actor, userCode: string, address: string) => Promise<DeviceLoginView>
  /** Throws as `read`, and as a key that is made: `forbidden`, `validation_failed`. */
  grant: (by: Requester, grant: DeviceGrantBody) => Promise<void>
  /** Throws as `read`. */
  decline: (by: Requester, userCode: string) => Promise<void>
}

export const deviceLogins = token<DeviceLogins>('deviceLogins')

/** In seconds. */
const lifetime = 600
const interval = 5

/** Twenty consonants, so that codes are no words and no letter is taken for another one (RFC 8628, 6.1): 35 bits. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ'
const codeLength = 8

type Granted = Extract<Reported, { state: 'granted' }>

type Options = {
  database: Database
  accounts: Pick<Accounts, 'byId'>
  keys: Pick<KeyAdministration, 'check' | 'create'>
  /** Counts the codes that a user has typed in vain, and the questions of an address. */
  limiters: { codes: Pick<RateLimiter, 'take' | 'giveBack'>, questions: Pick<RateLimiter, 'take'> }
  /** Where codes are typed; undefined without a console. */
  page: string | undefined
  now: () => Date
  newId: () => string
}

/**
 * Logins of devices by a code. Throws `not_found` for a code for which nobody waits, `conflict` in a service without a console,
 * `rate_limited` for too many tries, and the errors of RFC 8628 as `DispatchError`s.
 */
export function createDeviceLogins ({ database, accounts, keys, limiters, page, now, newId }: Options): DeviceLogins {
  /** Whoever types codes at random is stopped before they find one. */
  async function counted<Found> (actor: Actor, find: () => Promise<Found | undefined>): Promise<Found> {
    const user = String(actor.userId)
    await count(limiters.codes, user, 'You have typed too many codes that there are not')
    const found = await find()
    if (found === undefined) {
      throw new DispatchError('not_found', 'No login waits for this code: it never was, has been decided or has expired.')
    }
    await limiters.codes.giveBack(user)
    return found
  }

  function settle ({ actor, author }: Requester, userCode: string, key: Decision['key']): Promise<true> {
    const { userId, companyId, passwordVersion = null } = actor
    return counted(actor,
      async () =>
        await decide(database, plain(userCode), { userId, companyId, passwordVersion, key }, { author, at: now() }) ? true : undefined)
  }

  /** What the device that waits for a code asks to be allowed to. */
  async function askedBy (actor: Actor, userCode: string): Promise<KeyScope[]> {
    const { scopes } = await counted(actor, () => findWaiting(database, plain(userCode)))
    return scopes as KeyScope[]
  }

  return {
    async begin ({ client_id: client, scope = 'send read_own' }, address) {
      if (page === undefined) throw new DispatchError('conflict', 'This service has no console at which a code could be typed: use a key.')
      const deviceCode = randomBytes(32).toString('base64url')
      const login = { loginId: newId(), digest: digestOf(deviceCode), client, scopes: [...new Set(scope.split(' '))], address }
      let userCode
      do userCode = Array.from({ length: codeLength }, () => alphabet[randomInt(alphabet.length)]).join('')
      while (!await insertLogin(database, { ...login, userCode }, { lifetime, interval }))
      return {
        device_code: deviceCode,
        user_code: `${userCode.slice(0, 4)}-${userCode.slice(4)}`,
        verification_uri: page,
        expires_in: lifetime,
        interval
      }
    },

    async take (deviceCode, from) {
      await count(limiters.questions, from.address, 'Too many devices ask from this address')
      const reported = await ask(database, digestOf(deviceCode))
      if (reported.state === 'granted') return await make(reported, from)
      const [word, message] = refusals[reported.state]
      throw new DispatchError(word, message)
    },

    async read (actor, userCode, address) {
      const login = await counted(actor, () => findWaiting(database, plain(userCode)))
      return {
        client: login.client,
        scopes: login.scopes as KeyScope[],
        address: login.address,
        sameAddress: login.address === address,
        createdAt: login.created_at.toISOString(),
        expiresAt: login.expires_at.toISOString()
      }
    },

    async grant (by, { userCode, ...key }) {
      const granted = { ...key, scopes: key.scopes ?? await askedBy(by.actor, userCode) }
      await keys.check(by.actor, granted)
      await settle(by, userCode, granted)
    },

    async decline (by, userCode) {
      await settle(by, userCode, null)
    }
  }

  /** The key that was granted, made as its person would make it now. */
  async function make ({ loginId, userId, passwordVersion, key }: Granted, from: From): Promise<DeviceToken> {
    try {
      const person = await accounts.byId(userId)
      if (person === undefined || person.disabled) throw new DispatchError(...refusals.declined)
      const { companyId, email, role, services } = person
      const actor = { userId, companyId, email, role, services, passwordVersion }
      const made = await keys.create({ actor, author: { userId, companyId, ...from } }, key)
      if (made === undefined) throw new DispatchError(...refusals.declined)
      await forgetLogin(database, loginId)
      return {
        access_token: made.key,
        token_type: 'Bearer',
        scope: made.scopes.join(' '),
        ...made.expiresAt === null ? {} : { expires_in: secondsUntil(made.expiresAt) }
      }
    } catch (cause) {
      // What passes, such as a database that is away, leaves the grant: the device asks again.
      if (!(cause instanceof DispatchError) || !lasting.has(cause.word)) throw cause
      // Their rights, or their password, have changed since they granted it.
      await forgetLogin(database, loginId)
      throw new DispatchError(...refusals.declined, { cause })
    }
  }

  function secondsUntil (time: string): number {
    return Math.floor((new Date(time).getTime() - now().getTime()) / 1000)
  }
}

const refusals = {
  expired: ['expired_token', 'This code of a device never was, has been used or has expired: begin again.'],
  slow: ['slow_down', `The device asks too often: wait ${interval} seconds longer from now on.`],
  waiting: ['authorization_pending', 'The code waits for a person who types it at the console.'],
  declined: ['access_denied', 'A person has declined this login, or can grant it no more.']
} as const

/** Errors with which the key will never be made. */
const lasting: ReadonlySet<string> = new Set(['access_denied', 'forbidden', 'unauthorized', 'validation_failed'])

async function count (limiter: Pick<RateLimiter, 'take'>, who: string, sentence: string): Promise<void> {
  const { exceeded, ...budget } = await limiter.take(who)
  if (!exceeded) return
  throw new DispatchError('rate_limited', `${sentence}: try again in ${budget.reset} seconds.`, { budget, retryAfter: budget.reset })
}

/** A code as it is stored, whatever stands between its letters. */
function plain (userCode: string): string {
  return userCode.toUpperCase().replaceAll(/[^A-Z]/g, '')
}
