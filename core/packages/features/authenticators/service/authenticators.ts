import { type Actor, type CodeCheck, makeRecoveryCodes, recoveryDigest, type Requester, revoked, type UserRef } from '@dispatch/accounts'
import type { Keyring } from '@dispatch/common'
import { DispatchError, type RecoveryCodesView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { NewAuthenticatorView } from '../contract/authenticators.ts'
import { confirmAuthenticator, readAuthenticator, storeAuthenticator, useStep } from '../store/authenticators.ts'
import { isTotpCode, makeTotpSecret, totpStep, totpUri } from './totp.ts'

/**
 * Apps that make codes (TOTP): one for each user, who sets it up. Each code counts once. A new app ends the user's other sessions and all
 * their tokens.
 */
export type Authenticators = CodeCheck & {
  /** A new secret for an app, which counts when a code has confirmed it. Throws `conflict` for a user who has an app. */
  begin: (by: Requester) => Promise<NewAuthenticatorView>
  /** Throws `conflict` when nothing was begun, and `forbidden` for a wrong code. */
  confirm: (by: Requester, code: string) => Promise<RecoveryCodesView>
}

export const authenticators = token<Authenticators>('authenticators')

type Options = { database: Database, keyring: Pick<Keyring, 'seal' | 'open'>, now: () => Date }

/** Creates the apps of users. What its functions throw is said at {@link Authenticators}. */
export function createAuthenticators ({ database, keyring, now }: Options): Authenticators {
  return {
    offered: true,

    async takesCode (user, code) {
      const digits = code.replaceAll(/\s/g, '')
      const app = isTotpCode(digits) ? await readAuthenticator(database, user) : undefined
      const step = app?.confirmed === true ? totpStep(keyring.open(app.sealed, contextOf(user)).toString(), digits, now()) : undefined
      return step !== undefined && useStep(database, user, step)
    },

    async begin ({ actor }) {
      requireOneself(actor)
      const secret = makeTotpSecret()
      if (!await storeAuthenticator(database, actor, keyring.seal(secret, contextOf(actor)))) {
        throw new DispatchError('conflict', 'There is an app already: remove the second factor first.', { reason: 'exists' })
      }
      return { secret, uri: totpUri(secret, actor.email) }
    },

    async confirm ({ actor, author }, code) {
      requireOneself(actor)
      const app = await readAuthenticator(database, actor)
      if (app === undefined || app.confirmed) {
        throw new DispatchError('conflict', 'There is nothing to confirm: begin with a new secret.', { reason: 'nothing_there' })
      }
      const step = totpStep(keyring.open(app.sealed, contextOf(actor)).toString(), code.replaceAll(/\s/g, ''), now())
      if (step === undefined) {
        throw new DispatchError('forbidden', 'The code is wrong: send the one that the app shows now.', { reason: 'wrong_code' })
      }
      const { companyId, userId, passwordVersion, sessionId: keptSession } = actor
      const recoveryCodes = makeRecoveryCodes()
      const confirmed = await confirmAuthenticator(database, { companyId, userId, passwordVersion, keptSession }, {
        sealed: app.sealed,
        step,
        digests: recoveryCodes.map((one) => recoveryDigest(userId, one))
      }, { author, at: now() })
      if (confirmed === 'stale') throw revoked()
      if (confirmed === undefined) {
        throw new DispatchError('conflict', 'Somebody else is changing the second factor: read it again.', { reason: 'being_done' })
      }
      return { recoveryCodes }
    }
  }
}

/** The context under which the secret of an app is sealed. */
const contextOf = ({ companyId, userId }: UserRef): string => `${companyId}|second factor|${userId}`

/** Throws `forbidden` during an impersonation: it would give the user a second factor that they do not have. */
function requireOneself ({ impersonatorId }: Actor): void {
  if (impersonatorId !== undefined) throw new DispatchError('forbidden', 'Only users themselves have their second factor in hand.')
}
