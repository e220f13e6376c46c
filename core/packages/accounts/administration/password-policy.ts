import type { Account } from '../access/account.ts'

/** What a feature says of the passwords of users: those of a company may have to sign in otherwise. */
export type PasswordPolicy = {
  /** Whether the console refuses the user's password, and whatever stands for it. */
  refusesPassword: (account: Pick<Account, 'companyId' | 'userId'>) => Promise<boolean>
  /**
   * Where a user signs in whose password the console refuses, or who has none; undefined for anybody else. `proof`: who is signed in is to
   * prove there who they are.
   */
  insteadOfPassword: (
    account: Pick<Account, 'companyId' | 'userId' | 'passwordHash'>,
    purpose: 'sign-in' | 'proof'
  ) => Promise<string | undefined>
}

/** All policies as one, each made when it is first needed: a password is refused where one of them refuses it. */
export function allOf (policies: readonly (() => PasswordPolicy)[]): PasswordPolicy {
  return {
    async refusesPassword (account) {
      for (const policyOf of policies) if (await policyOf().refusesPassword(account)) return true
      return false
    },

    async insteadOfPassword (account, purpose) {
      for (const policyOf of policies) {
        const address = await policyOf().insteadOfPassword(account, purpose)
        if (address !== undefined) return address
      }
      return undefined
    }
  }
}
