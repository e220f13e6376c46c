import type { Database } from '@dispatch/database'
import type { FactorStore } from '../store/second-factors.ts'
import type { UserRef } from '../store/users.ts'

/** What a browser is asked for: the options that its API takes, as JSON, and the challenge in them (base64url). */
export type Question = { options: object, challenge: string }

/** A kind of verification that makes codes, which people type. */
export type CodeCheck = {
  /** People of this installation can have it. */
  offered: boolean
  /** Whether this is a code of the user, as it was typed. It counts once. */
  takesCode: (user: UserRef, code: string) => Promise<boolean>
}

/** A kind of verification that a browser answers. A question counts once. */
export type QuestionCheck = {
  /** People of this installation can have it. */
  offered: boolean
  /** A question to a user, or (without) to anybody. Undefined where there is nothing to ask for. */
  ask: (user?: UserRef) => Promise<Question | undefined>
  /** The user who has answered the question of a user, or the one with this challenge. Undefined for a wrong answer, whatever it is. */
  answered: (answer: string, question: { user: UserRef } | { challenge: string }) => Promise<number | undefined>
}

/** How a kind of verification is checked. */
export type Check = CodeCheck | QuestionCheck

/**
 * A kind of verification: with what, besides the password, people show who they are. It ends a sign-in after the password, signs in alone,
 * and proves at a session who sits there.
 */
export type Verification = FactorStore & {
  /** How it is checked: made when it is first needed. */
  check: () => Check
}

/** The kinds that a browser is asked for, and the people of this installation can have. */
export function offeredOf (verifications: readonly Verification[]): Verification[] {
  return verifications.filter(({ kind }) => checkOf(verifications, kind)?.offered)
}

/** The kinds of them that a user has. */
export async function kindsOf (database: Database, verifications: readonly Verification[], user: UserRef): Promise<string[]> {
  const offered = offeredOf(verifications)
  if (offered.length === 0) return []
  return database.company(user.companyId, async (queries) => {
    const kinds: string[] = []
    for (const { kind, count } of offered) if (await count(queries, user) > 0) kinds.push(kind)
    return kinds
  })
}

/** The question that a kind of verification asks; undefined where nobody provides the kind, or where it makes codes. */
export function checkOf (verifications: readonly Verification[], name: string): QuestionCheck | undefined {
  const check = verifications.find(({ kind }) => kind === name)?.check()
  return check !== undefined && 'ask' in check ? check : undefined
}

/** Whether this is a code of the user of any kind. It is used up. */
export async function takesCode (verifications: readonly Verification[], user: UserRef, code: string): Promise<boolean> {
  for (const { check: checkOfKind } of verifications) {
    const check = checkOfKind()
    if ('takesCode' in check && await check.takesCode(user, code)) return true
  }
  return false
}
