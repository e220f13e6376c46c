import { type Account, type Accounts, type Actor, type AuditAuthor, digestOf, isAddressAllowed, type Requester, type SecondFactors,
  unusableHash } from '@dispatch/accounts'
import { domainOf, normaliseEmail } from '@dispatch/accounts/people'
import { compile, type Envelope, type Keyring, type Log, SealError } from '@dispatch/common'
import { AccountEmail, type ProofBody } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { type OpenId, type OpenIdClient, OpenIdFailure, type OpenIdPerson } from '@dispatch/vendor-io'
import { timingSafeEqual } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { SignOnRefusal } from '../contract/single-sign-on.ts'
import { findByEmail, findIdentity, findSignOn, type Identity, insertIdentity, insertUserOf, isElsewhere, type NamedSignOn, noteAnswer,
  readSingleSignOn, type SingleSignOnRow } from '../store/single-sign-on.ts'
import { addressNameOf, returnAddressOf } from './return-address.ts'
import { secretContext, sharesAddress } from './single-sign-on.ts'

/** Whose sign-on it is, for the person who is about to use it. */
export type SignOnName = { company: string, issuer: string }

/** `sealed` belongs into a cookie of the browser that goes to `url`. */
export type SignOnBegun = SignOnName & { url: string, sealed: string }

/** What a browser brings back: the name of the address to which it came, none for the one that all companies shared, and its query. */
export type SignOnAnswer = { address: string | undefined, query: URLSearchParams }

/**
 * `proved`: who has begun to link an account has come back, and is asked for their password; `sealed` takes the cookie's place. `provedAt`:
 * when they have last proved to the provider who they are.
 */
export type SignedOn =
  | { came: 'in', userId: number, next: string, provedAt: Date }
  | { came: 'proved', sealed: string }
  | { came: 'refused', why: SignOnRefusal }

/** The account at a provider that a user is about to link, as the provider names it. */
export type LinkedAccount = { name: string, host: string }

/** Signing in by the OpenID provider of a company. A person is known by issuer and subject, never by the e-mail address alone. */
export type SigningOn = {
  /** Whose the code of a company is; undefined where there is no such company, or it is disabled. */
  named: (code: string) => Promise<SignOnName | undefined>
  /**
   * `given`: the code of a company, or an e-mail address, whose domain an operator has given to a company. Undefined where there is no such
   * company, it is disabled, or its provider cannot be used: nobody learns which. `maxAge`: for how many seconds the person may have been
   * signed in at the provider, which asks them to sign in again otherwise.
   */
  begin: (given: string, next: string, requested?: { maxAge?: number }) => Promise<SignOnBegun | undefined>
  /** Begins to link the actor, in their session. Undefined where the company has no single sign-on, or it cannot be used. */
  beginLink: (actor: Actor) => Promise<SignOnBegun | undefined>
  /** The user whom the provider has sent back to this browser. */
  finish: (sealed: string, answer: SignOnAnswer, from: Pick<AuditAuthor, 'address' | 'requestId'>) => Promise<SignedOn>
  /** What the actor is about to link; undefined where it was not begun in this session within ten minutes. */
  linking: (actor: Actor, sealed: string) => LinkedAccount | undefined
  /** Links it. Throws `forbidden` for a wrong password or code. Answers why it cannot be linked. */
  link: (by: Requester, sealed: string, proof: ProofBody) => Promise<SignOnRefusal | undefined>
}

export const signingOn = token<SigningOn>('signingOn')

type Options = {
  database: Database
  accounts: Accounts
  keyring: Pick<Keyring, 'seal' | 'open'>
  openId: OpenId
  /** As {@link SecondFactors.prove}. */
  prove: SecondFactors['prove']
  publicUrl: string
  log: Log
  now: () => Date
}

/** In milliseconds: ten minutes. */
const lifetime = 600_000
const context = 'sign-on'
const provedContext = 'sign-on proved'

/** In characters: what a browser keeps has a limit. */
const longestPath = 500

const isAddress = compile(AccountEmail)

const Link = Type.Object({ userId: Type.Integer(), passwordVersion: Type.Integer(), sessionId: Type.String() })
const Proved = Type.Object({
  link: Link,
  companyId: Type.Integer(),
  issuer: Type.String(),
  subject: Type.String(),
  name: Type.String(),
  until: Type.Integer()
})
const fitProved = compile(Proved)

const Pending = Type.Object({
  companyId: Type.Integer(),
  issuer: Type.String(),
  clientId: Type.String(),
  version: Type.Integer(),
  redirectUri: Type.String(),
  checks: Type.Object({ state: Type.String(), nonce: Type.String(), verifier: Type.String(), maxAge: Type.Optional(Type.Integer()) }),
  next: Type.String(),
  link: Type.Optional(Link),
  until: Type.Integer()
})
type Pending = Static<typeof Pending>
type Proved = Static<typeof Proved>
const fitPending = compile(Pending)

const clientOf = ({ keyring }: Options, row: SingleSignOnRow): OpenIdClient => ({
  issuer: row.issuer,
  clientId: row.client_id,
  clientSecret: keyring.open(row.client_secret, secretContext(row.company_id)).toString()
})

const sealedOf = ({ keyring }: Options, value: object, context: string): string =>
  Buffer.from(JSON.stringify(keyring.seal(JSON.stringify(value), context))).toString('base64url')

async function beginWith (
  options: Options,
  { row, company }: NamedSignOn,
  { hint, maxAge, ...more }: Pick<Pending, 'next' | 'link'> & { hint?: string, maxAge?: number }
): Promise<SignOnBegun | undefined> {
  const { publicUrl, now, openId } = options
  const { company_id: companyId, issuer, client_id: clientId } = row
  const addresses = {
    own: returnAddressOf(publicUrl, addressNameOf(companyId, issuer)),
    ...sharesAddress(row, now()) ? { shared: returnAddressOf(publicUrl) } : {}
  }
  const begun = await openId.begin(clientOf(options, row), addresses, {
    ...hint === undefined ? {} : { hint },
    ...maxAge === undefined ? {} : { maxAge }
  }).catch((err: unknown) => failed(options, err, companyId))
  if (begun === undefined) return undefined
  const { url, redirectUri, checks } = begun
  const until = now().getTime() + lifetime
  const pending: Pending = { companyId, issuer, clientId, version: versionOf(row), redirectUri, checks, ...more, until }
  return { url, company, issuer, sealed: sealedOf(options, pending, context) }
}

/**
 * Whether what has come to an address is the answer to what this browser has begun, and the first one. A code is shown to no issuer but
 * the one whose address it has come to. At the shared address an answer must name its issuer, whatever that publishes by now:
 * openid-client compares a name that is there.
 */
async function isAnswerTo (
  { publicUrl, database }: Options,
  { redirectUri, checks: { state } }: Pending,
  { address, query }: SignOnAnswer
): Promise<boolean> {
  const isNamed = redirectUri !== returnAddressOf(publicUrl) || (query.get('iss') ?? '') !== ''
  const isBegun = redirectUri === returnAddressOf(publicUrl, address) && isNamed
  const isExpected = timingSafeEqual(digestOf(query.get('state') ?? ''), digestOf(state))
  return isBegun && isExpected && await noteAnswer(database, digestOf(state), lifetime / 1000)
}

/** What this browser has begun within the last ten minutes. */
function opened<Value extends { until: number }> (
  { keyring, now }: Options,
  sealed: string,
  context: string,
  fits: Fits<Value>
): Value | undefined {
  try {
    const envelope = JSON.parse(Buffer.from(sealed, 'base64url').toString()) as Envelope
    const fit = fits(JSON.parse(keyring.open(envelope, context).toString()))
    return fit.ok && fit.value.until > now().getTime() ? fit.value : undefined
  } catch (error) {
    if (error instanceof SealError || error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}

/** What was proved for the actor, in the session in which they have begun. */
function provedOf (options: Options, { userId, sessionId }: Actor, sealed: string): Proved | undefined {
  const proved = opened(options, sealed, provedContext, fitProved)
  return proved?.link.userId === userId && proved.link.sessionId === sessionId ? proved : undefined
}

function failed ({ log }: Options, err: unknown, companyId: number): undefined {
  if (!(err instanceof OpenIdFailure)) throw err
  log.warn({ err, companyId }, 'single sign-on failed')
}

/** The user as whom the person comes, who is made or linked where the company wants that; or why there is none. */
async function userOf (
  { database, now }: Options,
  row: SingleSignOnRow,
  identity: Identity,
  { email, emailVerified }: OpenIdPerson,
  from: Pick<AuditAuthor, 'address' | 'requestId'>
): Promise<number | SignOnRefusal> {
  const known = await findIdentity(database, identity)
  if (known !== undefined) return known
  if (email === undefined || !isAddress(email).ok) return 'unknown'
  const [address, signingOn] = [normaliseEmail(email), { from, at: now() }]
  const user = await findByEmail(database, identity.companyId, address)
  if (user !== undefined) {
    if (!row.links_by_email || emailVerified !== true || user.role === 'operator') return 'taken'
    return await insertIdentity(database, identity, { userId: user.userId, by: 'email' }, signingOn) ? user.userId : 'linked'
  }
  if (!row.creates_users) return 'unknown'
  if (emailVerified !== true && (emailVerified === false || !row.trusts_email)) return 'unverified'
  if (await isElsewhere(database, identity.companyId, { email: address, domain: domainOf(address) })) return 'unknown'
  const { default_role: role, default_services: services } = row
  return await insertUserOf(database, identity, { email: address, role, services, passwordHash: unusableHash }, signingOn) ?? 'taken'
}

const begin = (options: Options): SigningOn['begin'] => async (given, next, requested = {}) => {
  const { database } = options
  const [, domain] = /^[^@\s]{1,64}@([a-z0-9.-]{1,253})$/.exec(given) ?? []
  const found = domain !== undefined
    ? await findSignOn(database, { domain })
    : codeForm.test(given)
    ? await findSignOn(database, { code: given })
    : undefined
  const hinted = domain === undefined ? {} : { hint: given }
  return found && await beginWith(options, found, { next: next.length > longestPath ? '/console' : next, ...hinted, ...requested })
}

const beginLink = (options: Options): SigningOn['beginLink'] => async ({ companyId, userId, sessionId }) => {
  const { database, accounts } = options
  const [found, account] = [await findSignOn(database, { companyId }), await accounts.byId(userId)]
  if (found === undefined || account === undefined || sessionId === undefined) return undefined
  return await beginWith(options, found, {
    next: '/console/sessions',
    link: { userId, passwordVersion: account.passwordVersion, sessionId }
  })
}

const finish = (options: Options): SigningOn['finish'] => async (sealed, answer, from) => {
  const { database, openId, now, accounts } = options
  const pending = opened(options, sealed, context, fitPending)
  const row = pending && await readSingleSignOn(database, pending.companyId)
  if (pending === undefined || row === undefined || !isUnchanged(row, pending)) return refused('expired')
  if (!await isAnswerTo(options, pending, answer)) return refused('expired')
  const { companyId, issuer, redirectUri, checks, next, link } = pending
  const person = await openId.finish(clientOf(options, row), redirectUri, answer.query, checks).catch((err: unknown) =>
    failed(options, err, companyId)
  )
  if (person === undefined) return refused('issuer')
  const identity = { companyId, issuer, subject: person.subject }
  if (link !== undefined) {
    const proved: Proved = { ...identity, link, name: person.email ?? person.subject, until: now().getTime() + lifetime }
    return { came: 'proved', sealed: sealedOf(options, proved, provedContext) }
  }
  const user = await userOf(options, row, identity, person, from)
  if (typeof user === 'string') return refused(user)
  const account = await accounts.byId(user)
  if (!mayCome(account, companyId, from.address)) return refused('refused')
  return { came: 'in', userId: user, next, provedAt: person.signedInAt ?? (checks.maxAge === undefined ? new Date(0) : now()) }
}

const link = (options: Options): SigningOn['link'] => async (by, sealed, proof) => {
  const { database, accounts, prove, now } = options
  const { actor, author } = by
  const proved = provedOf(options, actor, sealed)
  const [row, account] = [await readSingleSignOn(database, actor.companyId), await accounts.byId(actor.userId)]
  const isStill = account?.passwordVersion === proved?.link.passwordVersion && row?.issuer === proved?.issuer
  if (proved?.companyId !== actor.companyId || !isStill) return 'expired'
  await prove(by, proof)
  const { companyId, issuer, subject, link: { userId } } = proved
  const identity = { companyId, issuer, subject }
  const known = await findIdentity(database, identity)
  const isLinked = known === undefined &&
    await insertIdentity(database, identity, { userId, by: 'password' }, { from: author, at: now() })
  return isLinked || known === userId ? undefined : 'linked'
}

/** Signs people in by the OpenID provider of their company. */
export function createSigningOn (options: Options): SigningOn {
  const { database } = options

  return {
    async named (code) {
      const found = codeForm.test(code) ? await findSignOn(database, { code }) : undefined
      return found && { company: found.company, issuer: found.row.issuer }
    },

    begin: begin(options),

    beginLink: beginLink(options),

    finish: finish(options),

    linking (actor, sealed) {
      const proved = provedOf(options, actor, sealed)
      return proved && { name: proved.name, host: new URL(proved.issuer).host }
    },

    link: link(options)
  }
}

const codeForm = /^[a-z2-9]{12}$/

/** A change of the settings makes another version: what was begun before it has ended. */
const versionOf = (row: SingleSignOnRow): number => row.updated_at.getTime()

function isUnchanged (row: SingleSignOnRow, { issuer, clientId, version }: Pending): boolean {
  return row.issuer === issuer && row.client_id === clientId && versionOf(row) === version
}

type Fits<Value> = (value: unknown) => { ok: true, value: Value } | { ok: false }

const refused = (why: SignOnRefusal): SignedOn => ({ came: 'refused', why })

function mayCome (account: Account | undefined, companyId: number, address: string): boolean {
  return account?.companyId === companyId && !account.disabled && isAddressAllowed(account.addresses, address)
}
