import type { Account, Accounts, Actor } from '../access/account.ts'
import type { BruteForceGuard } from '../access/brute-force-guard.ts'
import type { Credentials } from '../access/credentials.ts'
import type { Keyring } from '../access/keyring.ts'
import { rolesUpTo } from '../access/permissions.ts'
import { makeRecoveryCodes, recoveryDigest } from '../access/recovery-codes.ts'
import { isTotpCode, makeTotpSecret, totpStep, totpUri } from '../access/totp.ts'
import { DispatchError } from '../contract/errors.ts'
import type { NewAuthenticatorView, ProofBody, RecoveryCodesView, SecondFactorView } from '../contract/second-factor.ts'
import type { Database } from '../store/db/database.ts'
import { confirmAuthenticator, readAuthenticator, readFactors, removeFactors, replaceRecoveryCodes, storeAuthenticator, useRecoveryCode,
  useStep } from '../store/tenants/second-factors.ts'
import { findUser, type UserRef } from '../store/tenants/users.ts'
import type { Requester } from './users.ts'
import { checkOf, type Verification } from './verifications.ts'

/**
 * The second factor of users: an app that makes codes (TOTP), passkeys, and recovery codes. Users set up their own, nobody does it for
 * them. Every change ends their other sessions and all their tokens.
 */
export type SecondFactors = {
  state: (actor: Actor) => Promise<SecondFactorView>
  /** A new secret for an app, which counts when a code has confirmed it. Throws `conflict` for a user who has an app. */
  begin: (by: Requester) => Promise<NewAuthenticatorView>
  /** Throws `conflict` when nothing was begun, and `forbidden` for a wrong code. */
  confirm: (by: Requester, code: string) => Promise<RecoveryCodesView>
  /** Replaces the recovery codes. Throws `conflict` for a user without a second factor, and `forbidden` for a wrong password or code. */
  renewCodes: (by: Requester, proof: ProofBody) => Promise<RecoveryCodesView>
  /** Throws as `renewCodes`. */
  remove: (by: Requester, proof: ProofBody) => Promise<void>
  /**
   * Removes the second factor of another user of the company. Throws `forbidden` for the actor's own, and `conflict` where there is none.
   * False when there is no such user, or their role is above the actor's.
   */
  reset: (by: Requester, userId: number) => Promise<boolean>
  /** Throws `forbidden` for a wrong password or code, and during an impersonation. */
  prove: (by: Requester, proof: ProofBody) => Promise<void>
  /** Whether this is a code of the user; it is used up. Throws `rate_limited` after too many wrong ones. */
  verify: (account: Pick<Account, 'companyId' | 'userId'>, code: string, address: string) => Promise<boolean>
}

type Options = {
  database: Database
  accounts: Accounts
  credentials: Pick<Credentials, 'verify'>
  keyring: Pick<Keyring, 'seal' | 'open'>
  verifications: readonly Verification[]
  bruteForceGuard?: Pick<BruteForceGuard, 'beginCode'> | undefined
  now: () => Date
}

export function createSecondFactors ({ database, accounts, credentials, keyring, verifications, bruteForceGuard, now }:
  Options): SecondFactors
{
  async function isRight (ref: UserRef, code: string): Promise<boolean> {
    const digits = code.replaceAll(/\s/g, '')
    if (!isTotpCode(digits)) return useRecoveryCode(database, ref, recoveryDigest(ref.userId, code))
    const app = await readAuthenticator(database, ref)
    const step = app?.confirmed === true ? totpStep(keyring.open(app.sealed, contextOf(ref)).toString(), digits, now()) : undefined
    return step !== undefined && useStep(database, ref, step)
  }

  async function verify ({ companyId, userId }: UserRef, code: string, address: string): Promise<boolean> {
    const attempt = await bruteForceGuard?.beginCode(userId, address)
    const right = await isRight({ companyId, userId }, code)
    if (right) await attempt?.right()
    return right
  }

  async function requireProof ({ actor, author: { address } }: Requester, { password, code = '' }: ProofBody): Promise<void> {
    requireOneself(actor)
    const { userId, email } = actor
    const proved = password === undefined
      ? await verify(actor, code, address)
      : await credentials.verify(email, password, address, userId) !== undefined
    if (!proved) throw new DispatchError('forbidden', `The ${password === undefined ? 'code' : 'password'} is wrong.`)
  }

  return {
    verify,
    prove: requireProof,

    async state (actor) {
      const [{ since, kinds: { passkey = 0 }, ...state }, account] = [await readFactors(database, verifications, actor),
        await accounts.byId(actor.userId)]
      return {
        enabled: since !== null,
        required: account?.secondFactorRequired === true,
        since: since?.toISOString() ?? null,
        ...state,
        passkeys: checkOf(verifications, 'passkey')?.offered === true ? passkey : null
      }
    },

    async begin ({ actor }) {
      requireOneself(actor)
      const secret = makeTotpSecret()
      if (!await storeAuthenticator(database, actor, keyring.seal(secret, contextOf(actor)))) {
        throw new DispatchError('conflict', 'There is an app already: remove the second factor first.')
      }
      return { secret, uri: totpUri(secret, actor.email) }
    },

    async confirm ({ actor, author }, code) {
      requireOneself(actor)
      const app = await readAuthenticator(database, actor)
      if (app === undefined || app.confirmed) throw new DispatchError('conflict', 'There is nothing to confirm: begin with a new secret.')
      const step = totpStep(keyring.open(app.sealed, contextOf(actor)).toString(), code.replaceAll(/\s/g, ''), now())
      if (step === undefined) throw new DispatchError('forbidden', 'The code is wrong: send the one that the app shows now.')
      const recoveryCodes = makeRecoveryCodes()
      const confirmed = await confirmAuthenticator(database, keeping(actor), {
        sealed: app.sealed,
        step,
        digests: digestsOf(actor, recoveryCodes)
      }, { author, at: now() })
      if (!confirmed) throw new DispatchError('conflict', 'Somebody else is changing the second factor: read it again.')
      return { recoveryCodes }
    },

    async renewCodes (by, proof) {
      await requireProof(by, proof)
      const { actor, author } = by
      const recoveryCodes = makeRecoveryCodes()
      if (!await replaceRecoveryCodes(database, actor, digestsOf(actor, recoveryCodes), { author, at: now() })) throw none()
      return { recoveryCodes }
    },

    async remove (by, proof) {
      await requireProof(by, proof)
      const { actor, author } = by
      if (!await removeFactors(database, verifications, keeping(actor), 'second_factor.removed', { author, at: now() })) throw none()
    },

    async reset ({ actor, author }, userId) {
      const { companyId, impersonatorId = actor.userId } = actor
      const user = await findUser(database, { companyId, userId })
      if (user === undefined || !rolesUpTo(actor.role).includes(user.role)) return false
      if (userId === impersonatorId) {
        throw new DispatchError('forbidden', 'One\'s own second factor is removed with the password or a code.')
      }
      if (!await removeFactors(database, verifications, { companyId, userId }, 'second_factor.reset', { author, at: now() })) throw none()
      return true
    }
  }
}

/** What the secret of an app is sealed for. */
const contextOf = ({ companyId, userId }: UserRef): string => `${companyId}|second factor|${userId}`

const keeping = ({ companyId, userId, sessionId }: Actor) => ({ companyId, userId, keptSession: sessionId })

const digestsOf = ({ userId }: Actor, codes: readonly string[]): Buffer[] => codes.map((code) => recoveryDigest(userId, code))

/** Throws `forbidden` during an impersonation: it would give the user a second factor that they do not have. */
function requireOneself ({ impersonatorId }: Actor): void {
  if (impersonatorId !== undefined) throw new DispatchError('forbidden', 'Only users themselves have their second factor in hand.')
}

function none (): DispatchError {
  return new DispatchError('conflict', 'There is no second factor.')
}
