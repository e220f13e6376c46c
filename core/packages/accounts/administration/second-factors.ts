import { DispatchError, type ProofBody, type RecoveryCodesView, type SecondFactorView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { Account, Accounts, Actor } from '../access/account.ts'
import type { BruteForceGuard } from '../access/brute-force-guard.ts'
import type { Credentials } from '../access/credentials.ts'
import { rolesUpTo } from '../access/permissions.ts'
import { makeRecoveryCodes, recoveryDigest } from '../access/recovery-codes.ts'
import { readFactors, removeFactors, replaceRecoveryCodes, useRecoveryCode } from '../store/second-factors.ts'
import { findUser, type UserRef } from '../store/users.ts'
import type { Requester } from './users.ts'
import { checkOf, takesCode, type Verification } from './verifications.ts'

/**
 * The second factor of users: the kinds of verification that features bring, and recovery codes, each of which takes the place of one of
 * them. Users set up their own, nobody does it for them. A removal ends their other sessions and all their tokens.
 */
export type SecondFactors = {
  state: (actor: Actor) => Promise<SecondFactorView>
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
  verifications: readonly Verification[]
  bruteForceGuard?: Pick<BruteForceGuard, 'beginCode'> | undefined
  now: () => Date
}

/**
 * Creates the second factor of users. `bruteForceGuard`: counts wrong codes; without one they are not limited. What its functions throw is
 * said at {@link SecondFactors}.
 */
export function createSecondFactors ({ database, accounts, credentials, verifications, bruteForceGuard, now }: Options): SecondFactors {
  async function verify ({ companyId, userId }: UserRef, code: string, address: string): Promise<boolean> {
    const [attempt, user] = [await bruteForceGuard?.beginCode(userId, address), { companyId, userId }]
    const right = await takesCode(verifications, user, code) || await useRecoveryCode(database, user, recoveryDigest(userId, code))
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
      const [{ since, kinds: { app = 0, passkey = 0 }, recoveryCodes }, account] = [await readFactors(database, verifications, actor),
        await accounts.byId(actor.userId)]
      return {
        enabled: since !== null,
        required: account?.secondFactorRequired === true,
        since: since?.toISOString() ?? null,
        app: app > 0,
        passkeys: checkOf(verifications, 'passkey')?.offered === true ? passkey : null,
        recoveryCodes
      }
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

const keeping = ({ companyId, userId, sessionId }: Actor) => ({ companyId, userId, keptSession: sessionId })

const digestsOf = ({ userId }: Actor, codes: readonly string[]): Buffer[] => codes.map((code) => recoveryDigest(userId, code))

/** Throws `forbidden` during an impersonation: it would give the user a second factor that they do not have. */
function requireOneself ({ impersonatorId }: Actor): void {
  if (impersonatorId !== undefined) throw new DispatchError('forbidden', 'Only users themselves have their second factor in hand.')
}

function none (): DispatchError {
  return new DispatchError('conflict', 'There is no second factor.', { reason: 'nothing_there' })
}
