import { compile } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { type Account, type Accounts, type Actor, normaliseEmail } from '../access/account.ts'
import { type Envelope, type Keyring, SealError } from '../access/keyring.ts'
import { isAddressAllowed } from '../access/networks.ts'
import { unusableHash } from '../access/passwords.ts'
import { AccountEmail } from '../contract/accounts.ts'
import type { Log } from '../host/call/log.ts'
import { type OpenId, type OpenIdClient, OpenIdFailure, type OpenIdPerson } from '../host/http/openid.ts'
import type { Database } from '../store/db/database.ts'
import type { AuditAuthor } from '../store/tenants/audit.ts'
import { findByCode, findByEmail, findIdentity, type Identity, insertIdentity, insertUserOf, readSingleSignOn,
  type SingleSignOnRow } from '../store/tenants/single-sign-on.ts'
import { redirectUriOf, secretContext } from './single-sign-on.ts'

/**
 * Why nobody is signed in. `expired`: the browser has not begun this, or more than ten minutes ago. `issuer`: the provider was not reached,
 * or what it answers is not right. `unknown`: no user is linked with this person, and none is made. `taken`: a user has the e-mail address,
 * and must link themselves. `linked`: the user or the person is linked otherwise. `refused`: the user is disabled, or may not come from
 * this address.
 */
export type SignOnRefusal = 'expired' | 'issuer' | 'unknown' | 'taken' | 'linked' | 'refused'

/** `sealed` belongs into a cookie of the browser that goes to `url`. */
export type SignOnBegun = { url: string, sealed: string }

export type SignedOn = { came: 'in', userId: number, next: string } | { came: 'refused', why: SignOnRefusal }

/** Signing in by the OpenID provider of a company. A person is known by issuer and subject, never by the e-mail address alone. */
export type SigningOn = {
  /** Undefined where no company has the code, its users are disabled, or its provider cannot be used: nobody learns which. */
  begin: (code: string, next: string) => Promise<SignOnBegun | undefined>
  /** Links the actor, who has signed in with a password. Undefined where the company has no single sign-on, or it cannot be used. */
  beginLink: (actor: Actor) => Promise<SignOnBegun | undefined>
  /** The user whom the provider has sent back to this browser. `answer` is the query of the callback. */
  finish: (sealed: string, answer: URLSearchParams, from: Pick<AuditAuthor, 'address' | 'requestId'>) => Promise<SignedOn>
}

type Options = {
  database: Database
  accounts: Accounts
  keyring: Pick<Keyring, 'seal' | 'open'>
  openId: OpenId
  publicUrl: string
  log: Log
  now: () => Date
}

/** In milliseconds: ten minutes. */
const lifetime = 600_000
const context = 'sign-on'

/** In characters: what a browser keeps has a limit. */
const longestPath = 500

const isAddress = compile(AccountEmail)

const Pending = Type.Object({
  companyId: Type.Integer(),
  issuer: Type.String(),
  clientId: Type.String(),
  checks: Type.Object({ state: Type.String(), nonce: Type.String(), verifier: Type.String() }),
  next: Type.String(),
  link: Type.Optional(Type.Object({ userId: Type.Integer(), passwordVersion: Type.Integer() })),
  until: Type.Integer()
})
type Pending = Static<typeof Pending>
const fitPending = compile(Pending)

export function createSigningOn ({ database, accounts, keyring, openId, publicUrl, log, now }: Options): SigningOn {
  const redirectUri = redirectUriOf(publicUrl)

  const clientOf = (row: SingleSignOnRow): OpenIdClient => ({
    issuer: row.issuer,
    clientId: row.client_id,
    clientSecret: keyring.open(row.client_secret, secretContext(row.company_id)).toString()
  })

  async function begin (row: SingleSignOnRow, more: Pick<Pending, 'next' | 'link'>): Promise<SignOnBegun | undefined> {
    const { company_id: companyId, issuer, client_id: clientId } = row
    const begun = await openId.begin(clientOf(row), redirectUri).catch((err: unknown) => failed(err, companyId))
    if (begun === undefined) return undefined
    const pending: Pending = { companyId, issuer, clientId, checks: begun.checks, ...more, until: now().getTime() + lifetime }
    return { url: begun.url, sealed: Buffer.from(JSON.stringify(keyring.seal(JSON.stringify(pending), context))).toString('base64url') }
  }

  /** What this browser has begun within the last ten minutes. */
  function opened (sealed: string): Pending | undefined {
    try {
      const fit = fitPending(
        JSON.parse(keyring.open(JSON.parse(Buffer.from(sealed, 'base64url').toString()) as Envelope, context).toString())
      )
      return fit.ok && fit.value.until > now().getTime() ? fit.value : undefined
    } catch (error) {
      if (error instanceof SealError || error instanceof SyntaxError || error instanceof TypeError) return undefined
      throw error
    }
  }

  function failed (err: unknown, companyId: number): undefined {
    if (!(err instanceof OpenIdFailure)) throw err
    log.warn({ err, companyId }, 'single sign-on failed')
  }

  /** The user as whom the person comes, who is made or linked where the company wants that; or why there is none. */
  async function userOf (
    row: SingleSignOnRow,
    identity: Identity,
    { email, emailVerified }: OpenIdPerson,
    from: Pick<AuditAuthor, 'address' | 'requestId'>
  ): Promise<number | SignOnRefusal> {
    const known = await findIdentity(database, identity)
    if (known !== undefined) return known
    if (email === undefined || !isAddress(email).ok || emailVerified === false) return 'unknown'
    const [address, signingOn] = [normaliseEmail(email), { from, at: now() }]
    const user = await findByEmail(database, identity.companyId, address)
    if (user !== undefined) {
      if (!row.links_by_email || emailVerified !== true || user.role === 'operator') return 'taken'
      return await insertIdentity(database, identity, { userId: user.userId, by: 'email' }, signingOn) ? user.userId : 'linked'
    }
    if (!row.creates_users) return 'unknown'
    const { default_role: role, default_services: services } = row
    return await insertUserOf(database, identity, { email: address, role, services, passwordHash: unusableHash }, signingOn) ?? 'taken'
  }

  /** The account of a user who has begun to link it, if it is still theirs. */
  async function linked (
    { userId, passwordVersion }: NonNullable<Pending['link']>,
    identity: Identity,
    from: Pick<AuditAuthor, 'address' | 'requestId'>
  ): Promise<number | SignOnRefusal> {
    const account = await accounts.byId(userId)
    if (account?.passwordVersion !== passwordVersion || account.companyId !== identity.companyId) return 'refused'
    const known = await findIdentity(database, identity)
    if (known !== undefined) return known === userId ? userId : 'linked'
    return await insertIdentity(database, identity, { userId, by: 'password' }, { from, at: now() }) ? userId : 'linked'
  }

  return {
    async begin (code, next) {
      const row = /^[a-z2-9]{12}$/.test(code) ? await findByCode(database, code) : undefined
      return row && await begin(row, { next: next.length > longestPath ? '/console' : next })
    },

    async beginLink ({ companyId, userId }) {
      const [row, account] = [await readSingleSignOn(database, companyId), await accounts.byId(userId)]
      if (row === undefined || account === undefined) return undefined
      return await begin(row, { next: '/console/sessions', link: { userId, passwordVersion: account.passwordVersion } })
    },

    async finish (sealed, answer, from) {
      const pending = opened(sealed)
      const row = pending && await readSingleSignOn(database, pending.companyId)
      if (pending === undefined || row?.issuer !== pending.issuer || row.client_id !== pending.clientId) return refused('expired')
      const { companyId, issuer, checks, next, link } = pending
      const person = await openId.finish(clientOf(row), redirectUri, answer, checks).catch((err: unknown) => failed(err, companyId))
      if (person === undefined) return refused('issuer')
      const identity = { companyId, issuer, subject: person.subject }
      const user = link === undefined ? await userOf(row, identity, person, from) : await linked(link, identity, from)
      if (typeof user === 'string') return refused(user)
      const account = await accounts.byId(user)
      return mayCome(account, companyId, from.address) ? { came: 'in', userId: user, next } : refused('refused')
    }
  }
}

const refused = (why: SignOnRefusal): SignedOn => ({ came: 'refused', why })

function mayCome (account: Account | undefined, companyId: number, address: string): boolean {
  return account?.companyId === companyId && !account.disabled && isAddressAllowed(account.addresses, address)
}
