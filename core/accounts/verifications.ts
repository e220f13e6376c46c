import type { Database } from '../store/db/database.ts'
import type { FactorStore } from '../store/tenants/second-factors.ts'
import type { UserRef } from '../store/tenants/users.ts'

/** What a browser is asked for: the options that its API takes, as JSON, and the challenge in them (base64url). */
export type Question = { options: object, challenge: string }

/** How a kind of verification is checked. A question counts once. */
export type Check = {
  /** People of this installation can have it. */
  offered: boolean
  /** A question to a user, or (without) to anybody. Undefined where there is nothing to ask for. */
  ask: (user?: UserRef) => Promise<Question | undefined>
  /** The user who has answered the question of a user, or the one with this challenge. Undefined for a wrong answer, whatever it is. */
  answered: (answer: string, question: { user: UserRef } | { challenge: string }) => Promise<number | undefined>
}

/**
 * A kind of verification: with what, besides the password, people show who they are. It ends a sign-in after the password, signs in alone,
 * and proves at a session who sits there.
 */
export type Verification = FactorStore & {
  /** How it is checked: made when it is first needed. */
  check: () => Check
}

/** The kinds that the people of this installation can have. */
export function offeredOf (verifications: readonly Verification[]): Verification[] {
  return verifications.filter(({ check }) => check().offered)
}

/** The kinds that a user has and can answer now. */
export async function kindsOf (database: Database, verifications: readonly Verification[], user: UserRef): Promise<string[]> {
  const offered = offeredOf(verifications)
  if (offered.length === 0) return []
  return database.company(user.companyId, async (queries) => {
    const kinds: string[] = []
    for (const { kind, count } of offered) if (await count(queries, user) > 0) kinds.push(kind)
    return kinds
  })
}

/** How the kind of this name is checked; undefined where nobody provides it. */
export function checkOf (verifications: readonly Verification[], name: string): Check | undefined {
  return verifications.find(({ kind }) => kind === name)?.check()
}
