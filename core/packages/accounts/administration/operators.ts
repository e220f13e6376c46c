import { compile } from '@dispatch/common'
import { DispatchError, NewPasswordAccount, refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { normaliseEmail } from '../access/account.ts'
import { requireGoodPassword } from '../access/password-rules.ts'
import { hashPassword } from '../access/passwords.ts'
import { type AccessEnd, resetAccess } from '../store/access.ts'
import { addOperator } from '../store/companies.ts'
import { type FactorStore, removeFactors } from '../store/second-factors.ts'
import { findUserByEmail, type UserRef } from '../store/users.ts'
import { platform } from './companies.ts'

const check = compile(NewPasswordAccount)

/**
 * Creates an operator, and the operators' company if it does not exist. For the command line: at first there is nobody who could use the
 * API. Throws `validation_error`, `validation_failed` or `conflict`, as the API does for users.
 */
export async function createOperator (
  database: Database,
  given: { email: string, password: string },
  now: Date
): Promise<{ userId: number }> {
  const fit = check(given)
  if (!fit.ok) throw refusal('validation_error', fit.problems)
  const { email, password } = fit.value
  requireGoodPassword(password, email)
  const user = { email: normaliseEmail(email), role: 'operator', services: [], passwordHash: await hashPassword(password) } as const
  const userId = await addOperator(database, { ...platform, user }, { author: null, at: now })
  if (userId === undefined) {
    throw new DispatchError('conflict', `The platform already has a user with the e-mail address ${user.email}.`, { reason: 'email_taken' })
  }
  return { userId }
}

/**
 * Ends every way in of an operator that somebody else has got into, and sets another password. For the command line. Throws `not_found`,
 * and for the password as `createOperator`. `ends`: what ends a way in, of each feature that brings one.
 */
export async function recoverOperator (
  database: Database,
  ends: readonly AccessEnd[],
  given: { email: string, password: string },
  now: Date
): Promise<{ userId: number, keys: number }> {
  const fit = check(given)
  if (!fit.ok) throw refusal('validation_error', fit.problems)
  const { email, password } = fit.value
  requireGoodPassword(password, email)
  const { companyId, userId } = await findOperator(database, email)
  const keys = await resetAccess(database, ends, { companyId, userId, passwordHash: await hashPassword(password) }, {
    author: null,
    at: now
  })
  return { userId, keys }
}

async function findOperator (database: Database, given: string): Promise<UserRef> {
  const email = normaliseEmail(given)
  const user = await findUserByEmail(database, platform.companyId, email)
  if (user === undefined) throw new DispatchError('not_found', `The platform has no user with the e-mail address ${email}.`)
  return { companyId: user.company_id, userId: user.user_id }
}

/**
 * Removes the second factor of an operator who has lost it. For the command line: there may be nobody left who could use the API. Throws
 * `not_found`, and `conflict` for an operator who has none.
 */
export async function resetOperator (
  database: Database,
  factors: readonly FactorStore[],
  given: string,
  now: Date
): Promise<{ userId: number }> {
  const email = normaliseEmail(given)
  const { companyId, userId } = await findOperator(database, email)
  if (!await removeFactors(database, factors, { companyId, userId }, 'second_factor.reset', { author: null, at: now })) {
    throw new DispatchError('conflict', `The user ${email} has no second factor: the password alone signs them in.`)
  }
  return { userId }
}
