import { DispatchError, type MailLanguage } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { Account, Accounts } from '../access/account.ts'
import { digestOf } from '../access/api-key.ts'
import { type Authentication, wrongCode } from '../access/authentication.ts'
import { isAddressAllowed } from '../access/networks.ts'
import { makeSecret, secretForm } from '../access/secret.ts'
import { deleteWaiting, findWaiting, insertWaiting } from '../store/waiting-sign-ins.ts'
import type { PasswordPolicy } from './password-policy.ts'
import type { SecondFactors } from './second-factors.ts'
import { checkOf, kindsOf, offeredOf, type Question, type Verification } from './verifications.ts'

/** Where a person signs in from, and the language that they read there, where that is known. */
export type SessionClient = { address: string, browser: string, language?: MailLanguage }

/** The answer of a browser to a kind of verification. */
export type Answered = { kind: string, answer: string }

/** The secret of a session that has begun, or of a sign-in that waits for the second factor: known to the browser alone. */
export type SignedIn = { session: string } | { waiting: string }

/**
 * How a session begins: with the password and, for a user with a second factor, a code or another kind of verification; with such a kind
 * alone.
 */
export type SignIns = {
  /**
   * Begins a session or, for a user with a second factor, a wait of five minutes. Throws as {@link Authentication.checkPassword}, and
   * `forbidden` too where the company has its people sign in by its own provider.
   */
  open: (email: string, password: string, client: SessionClient) => Promise<SignedIn>
  /**
   * Begins a session of a user whom the company's own provider has let in: that decides about a second factor. `provedAt`: when they have
   * proved to it who they are.
   */
  openFor: (userId: number, client: SessionClient, provedAt: Date) => Promise<string>
  /** With what kinds, besides a code, the sign-in that waits under this secret may be ended; undefined where none waits. */
  waitingFor: (waiting: string) => Promise<{ kinds: readonly string[] } | undefined>
  /** The kinds of verification that people can have. */
  offered: () => readonly string[]
  /** A question of a kind for a sign-in that waits, or for anybody. Undefined where there is nothing to ask for. */
  ask: (kind: string, waiting?: string) => Promise<Question | undefined>
  /** Begins a session with the answer of a kind alone. Undefined for a wrong one, or a user who may not sign in from here. */
  openBy: (given: Answered & { challenge: string }, client: SessionClient) => Promise<string | undefined>
  /** As `complete`, with the answer of a kind. Throws `forbidden` for a wrong one. */
  completeBy: (waiting: string, given: Answered, client: SessionClient) => Promise<string | undefined>
  /**
   * Begins the session of a sign-in that waits. Undefined where none waits any more. Throws `forbidden` for a wrong code, and
   * `rate_limited` after too many.
   */
  complete: (waiting: string, code: string, client: SessionClient) => Promise<string | undefined>
}

export type SignInOptions = {
  database: Database
  accounts: Accounts
  authentication: Pick<Authentication, 'checkPassword'>
  secondFactors: Pick<SecondFactors, 'verify' | 'prove'>
  passwordPolicy: PasswordPolicy
  verifications: readonly Verification[]
}

/**
 * Signs people in by password and second factor. `begin` makes a session of an account; it answers its secret. Throws `forbidden` for wrong
 * credentials.
 */
export function createSignIns (
  { database, accounts, authentication, secondFactors, passwordPolicy, verifications }: SignInOptions,
  begin: (account: Account, client: SessionClient, provedAt?: Date) => Promise<string>
): SignIns {
  /** The account of a sign-in that waits, if the password is still the one that was right. */
  async function waitingAccount (waiting: string): Promise<Account | undefined> {
    const found = secretForm.test(waiting) ? await findWaiting(database, digestOf(waiting)) : undefined
    const account = found && await accounts.byId(found.userId)
    return account?.disabled === false && account.passwordVersion === found?.passwordVersion ? account : undefined
  }

  /** Ends the wait of a sign-in whose second factor is right. */
  async function end (
    waiting: string,
    client: SessionClient,
    isRight: (account: Account) => Promise<boolean>
  ): Promise<string | undefined> {
    const account = await waitingAccount(waiting)
    if (account === undefined || !isAddressAllowed(account.addresses, client.address)) return undefined
    if (!await isRight(account)) throw wrongCode()
    return await deleteWaiting(database, digestOf(waiting)) ? begin(account, client) : undefined
  }

  return {
    async open (email, password, client) {
      const account = await authentication.checkPassword(email, password, client.address)
      if (await passwordPolicy.refusesPassword(account)) {
        throw new DispatchError('forbidden', 'Invalid credentials.', { reason: 'wrong_credentials' })
      }
      if (!account.secondFactor) return { session: await begin(account, client) }
      const waiting = makeSecret()
      await insertWaiting(database, digestOf(waiting), account)
      return { waiting }
    },

    async openFor (userId, client, provedAt) {
      const account = await accounts.byId(userId)
      if (account === undefined) throw new TypeError('The provider has just let this user in.')
      return await begin(account, client, provedAt)
    },

    async waitingFor (waiting) {
      const account = await waitingAccount(waiting)
      return account && { kinds: await kindsOf(database, verifications, account) }
    },

    offered: () => offeredOf(verifications).map(({ kind }) => kind),

    async ask (kind, waiting) {
      if (waiting === undefined) return checkOf(verifications, kind)?.ask()
      const account = await waitingAccount(waiting)
      return account && checkOf(verifications, kind)?.ask(account)
    },

    async openBy ({ kind, answer, challenge }, client) {
      const userId = await checkOf(verifications, kind)?.answered(answer, { challenge })
      const account = userId === undefined ? undefined : await accounts.byId(userId)
      if (account?.disabled !== false || !isAddressAllowed(account.addresses, client.address)) return undefined
      return await passwordPolicy.refusesPassword(account) ? undefined : begin(account, client)
    },

    complete: (waiting, code, client) => end(waiting, client, (account) => secondFactors.verify(account, code, client.address)),

    completeBy: (waiting, { kind, answer }, client) =>
      end(waiting, client, async (user) => await checkOf(verifications, kind)?.answered(answer, { user }) !== undefined)
  }
}
