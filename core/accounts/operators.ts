import { compile } from '@dispatch/common'
import { normaliseEmail } from '../access/account.ts'
import { requireGoodPassword } from '../access/password-rules.ts'
import { hashPassword } from '../access/passwords.ts'
import { NewPasswordAccount } from '../contract/accounts.ts'
import { DispatchError, refusal } from '../contract/errors.ts'
import type { Database } from '../store/db/database.ts'
import { addOperator } from '../store/tenants/companies.ts'
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
    throw new DispatchError('conflict', `The platform already has a user with the e-mail address ${user.email}.`)
  }
  return { userId }
}
