import { DispatchError, type ProofBody, type SessionView } from '@dispatch/contract'
import type { Freshness } from '@dispatch/database'
import type { Account, Actor } from '../access/account.ts'
import { digestOf } from '../access/api-key.ts'
import { personOf } from '../access/authentication.ts'
import { isAddressAllowed } from '../access/networks.ts'
import { mayImpersonate } from '../access/permissions.ts'
import { makeSecret, secretForm } from '../access/secret.ts'
import type { Tokens } from '../access/tokens.ts'
import type { UnknownSecrets } from '../access/unknown-secrets.ts'
import { deleteSession, insertSession, listSessions, noteProof, sessionLimits as limits, type SessionRow, setActing,
  useSession } from '../store/sessions.ts'
import { type Answered, createSignIns, type SessionClient, type SignInOptions, type SignIns } from './sign-ins.ts'
import type { Requester } from './users.ts'
import { checkOf, kindsOf, type Question } from './verifications.ts'

/**
 * Sessions of people at the console. A session ends when its user ends it, changes their password or second factor, gets another role or is
 * disabled, after twelve hours, and after an hour without use. All times are those of the database.
 */
export type Sessions = SignIns & {
  /**
   * The user of the session with this secret, after a freshness check; undefined where the session has ended, or the address is not on the
   * company's list.
   */
  actorOf: (secret: string, address: string) => Promise<Actor | undefined>
  /** As `actorOf`, and as whom the person acts at the moment. */
  visitorOf: (secret: string, address: string) => Promise<Visitor | undefined>
  /**
   * Has the person of a session act as the user of an impersonation, until its token expires. Throws `unauthorized` for a token that is
   * none of this person, or of a session that has ended.
   */
  act: (own: Actor, token: string) => Promise<void>
  /**
   * Notes that the person of a session has proved who they are, and answers when: by their password, a code of their second factor, or the
   * answer to a question of `askProof`. Throws `forbidden` for a wrong one, and `rate_limited` after too many.
   */
  prove: (by: Requester, proof: SessionProof) => Promise<Date>
  /** With what the person of a session can prove who they are; `provider`: where they sign in who have no password. */
  waysToProve: (own: Actor) => Promise<{ password: boolean, kinds: readonly string[], provider?: string }>
  /** A question of a kind of verification to the person. Undefined where they have none of it. */
  askProof: (own: Actor, kind: string) => Promise<Question | undefined>
  /** Has the person act as themselves again. */
  stopActing: (own: Actor) => Promise<void>
  /** The actor's sessions, the newest first. */
  list: (actor: Actor) => Promise<SessionView[]>
  /** Ends a session of the actor. False when the actor has no such session. */
  end: (by: Requester, sessionId: string) => Promise<boolean>
}

/**
 * Who sits at a browser: `own` is who has signed in, `actor` as whom they act. `acting` is there where these are not the same; with `over`
 * the person acts as somebody until that is taken back, but may not do so any more, and `actor` is `own`.
 */
export type Visitor = { own: Actor, actor: Actor, acting?: { until: Date, over: boolean } }

/** The password, code or answer with which a person proves that they sit at their session. */
export type SessionProof = ProofBody | Answered

/** Most sessions of one user; a further one ends the oldest. */
const maxSessions = 20

/** How much of a browser's name is kept, in characters. */
const longestName = 300

type Options = SignInOptions & {
  freshness: Freshness
  tokens: Pick<Tokens, 'verify'>
  unknownSecrets: UnknownSecrets
  now: () => Date
  newId: () => string
}

/**
 * Creates the sessions of browsers. `now`: the clock of this process, by which sessions and proofs expire. What its functions throw is said
 * at {@link Sessions}.
 */
export function createSessions (options: Options): Sessions {
  const { database, accounts, freshness, tokens, unknownSecrets, secondFactors, passwordPolicy, verifications, now, newId } = options

  async function visitorOf (secret: string, address: string): Promise<Visitor | undefined> {
    const session = secretForm.test(secret)
      ? await unknownSecrets.find(digestOf(secret), address, (digest) => useSession(database, digest, { limits, freshness }))
      : undefined
    if (session === undefined || !isAddressAllowed(session.person.addresses, address)) return undefined
    const { sessionId, person, passwordVersion, provedAt, acting } = session
    const own = { ...personOf(person), sessionId, provedAt, passwordVersion }
    if (acting === undefined) return { own, actor: own }
    const user = acting.over ? undefined : await accounts.byId(acting.userId)
    const holds = user?.disabled === false && user.passwordVersion === acting.passwordVersion && mayImpersonate(person, user) &&
      isAddressAllowed(user.addresses, address)
    const { until } = acting
    return holds
      ? { own, actor: { ...personOf(user, person), sessionId, provedAt }, acting: { until, over: false } }
      : { own, actor: own, acting: { until, over: true } }
  }

  async function begin (account: Account, { browser, ...from }: SessionClient, provedAt?: Date): Promise<string> {
    const secret = makeSecret()
    const digest = digestOf(secret)
    const client = { ...from, browser: browser.slice(0, longestName) }
    const proof = provedAt === undefined ? {} : { provedAt }
    await insertSession(database, { ...account, ...client, ...proof, sessionId: newId(), digest }, { ...limits, max: maxSessions })
    unknownSecrets.learn(digest)
    return secret
  }

  return {
    ...createSignIns(options, begin),

    actorOf: async (secret, address) => (await visitorOf(secret, address))?.own,
    visitorOf,

    async act (own, token) {
      const { userId, passwordVersion, impersonator, expiresAt: until } = await tokens.verify(token)
      const isOwn = impersonator?.userId === own.userId
      if (!isOwn || !await setActing(database, own, own.sessionId ?? '', { userId, passwordVersion, until })) {
        throw new DispatchError('unauthorized', 'The token belongs to another person, or the session has ended: sign in again.')
      }
    },

    async prove (by, proof) {
      const { actor: own } = by
      // What the company does not let people sign in with does not prove who they are either.
      if (await passwordPolicy.refusesPassword(own)) throw new DispatchError('forbidden', 'Your company lets its people in: sign in by it.')
      if (!('kind' in proof)) await secondFactors.prove(by, proof)
      else if (await checkOf(verifications, proof.kind)?.answered(proof.answer, { user: own }) === undefined) {
        throw new DispatchError('forbidden', `The ${proof.kind} is wrong, or has not answered in time.`)
      }
      const provedAt = await noteProof(database, own, own.sessionId ?? '')
      if (provedAt === undefined) throw new DispatchError('unauthorized', 'The session has ended: sign in again.')
      return provedAt
    },

    async waysToProve (own) {
      const [isRefused, account] = [await passwordPolicy.refusesPassword(own), await accounts.byId(own.userId)]
      const provider = account && await passwordPolicy.insteadOfPassword(account, 'proof')
      return {
        password: !isRefused,
        kinds: isRefused ? [] : await kindsOf(database, verifications, own),
        ...provider === undefined ? {} : { provider }
      }
    },

    askProof: async (own, kind) => checkOf(verifications, kind)?.ask(own),

    async stopActing (own) {
      await setActing(database, own, own.sessionId ?? '', null)
    },

    async list (actor) {
      const [rows, account] = [await listSessions(database, actor, limits), await accounts.byId(actor.userId)]
      return rows.filter((row) => row.role === account?.role && row.password_version === account.passwordVersion)
        .map((row) => viewOf(row, actor))
    },

    end: ({ actor, author }, sessionId) => deleteSession(database, actor, sessionId, { author, at: now() })
  }
}

function viewOf (row: SessionRow, { sessionId }: Actor): SessionView {
  return {
    id: row.session_id,
    current: row.session_id === sessionId,
    address: row.address,
    browser: row.browser,
    createdAt: row.created_at.toISOString(),
    usedAt: row.used_at.toISOString(),
    expiresAt: new Date(row.created_at.getTime() + limits.longest * 1000).toISOString()
  }
}
