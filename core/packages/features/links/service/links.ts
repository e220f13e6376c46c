import { type Account, type Accounts, type Actor, type AuditAuthor, digestOf, hashPassword, isAddressAllowed, type LinkMail, makeSecret,
  type RateLimiter, type Requester } from '@dispatch/accounts'
import { coversServices, findCompany, isOfOther, type MailContent, normaliseEmail, type PasswordPolicy, refuseDomainOfOther,
  requireGoodPassword, requireGrantable, requireOwned, rolesUpTo, secretForm } from '@dispatch/accounts/people'
import { compile, type Log } from '@dispatch/common'
import { AccountEmail, DispatchError, type DispatchStatus, type MailLanguage, type Role } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token as tokenOf } from '@dispatch/plugins/feature'
import type { ForgottenBody, InvitationBody, InvitationView, InvitationWithLink, LinkUseBody, LinkView,
  PasswordLinkView } from '../contract/links.ts'
import { acceptInvitation, deleteInvitation, findLink, insertInvitation, insertPasswordLink, type InvitationPage, type InvitationRow,
  type LinkRow, listInvitations, type NewLink, noteForgotten, renewInvitation, usePasswordLink } from '../store/links.ts'

/** `mailIn`: mailed to the person in this language, and not shown. A link that gives an operator is never mailed: `conflict`. */
export type LinkDelivery = { mailIn?: MailLanguage }

/**
 * One-time links with which a person chooses a password: invitations, which make a user, and links for another password. A link ends when
 * it is used, withdrawn or renewed, after its time, and when who has made it could not do so any more. Invitations to a higher role than
 * the actor's are not visible.
 */
export type Links = {
  list: (actor: Actor, page?: InvitationPage) => Promise<InvitationView[]>
  /**
   * Throws `forbidden` for a role above the actor's or for services that the actor does not have, and `conflict` for an e-mail address that
   * a user or an invitation of the company has, or where there are 200 invitations.
   */
  invite: (by: Requester, invitation: InvitationBody, how?: LinkDelivery) => Promise<InvitationWithLink>
  /** Gives an invitation another link. Throws `forbidden` as `invite`. Undefined when there is no such invitation. */
  renew: (by: Requester, id: string, how?: LinkDelivery) => Promise<InvitationWithLink | undefined>
  /** False when there is no such invitation. */
  withdraw: (by: Requester, id: string) => Promise<boolean>
  /**
   * A link for another password of another user of the company. Throws `forbidden` for the actor's own user, or one with services that the
   * actor does not have, and `conflict` for one who is disabled. Undefined when there is no such user.
   */
  resetPassword: (by: Requester, userId: number, how?: LinkDelivery) => Promise<PasswordLinkView | undefined>
  /** Whoever has forgotten the password can have a link mailed. */
  offersForgotten: () => Promise<boolean>
  /**
   * Mails a link to the users with this address, later: nobody learns whether there are any. Users of a company that signs them in by its
   * own provider are told so instead, and operators get nothing. Throws `conflict` where the service mails no links.
   */
  forgotten: (requested: ForgottenBody, from: Pick<AuditAuthor, 'address' | 'requestId'>) => Promise<void>
  /** Resolves when no mail is about to be asked for. */
  drain: () => Promise<void>
  /** What a link is for. Throws `not_found`, with the same message for a link that never was, has been used or has expired. */
  read: (token: string) => Promise<LinkView>
  /** Throws as `read`, `forbidden` for an address that the company's list does not allow, and `validation_failed` for a bad password. */
  use: (use: LinkUseBody, from: Pick<AuditAuthor, 'address' | 'requestId'>) => Promise<void>
}

export const links = tokenOf<Links>('links')

/** In seconds: seven days, one day, and one hour. */
const lifetimes = { invitation: 604_800, password: 86_400, forgotten: 3_600 }

/** Most invitations of a company. */
const maxInvitations = 200

type Options = {
  database: Database
  accounts: Accounts
  /** Where people choose their password: `<page>/<token>`; undefined without a console. */
  page: string | undefined
  linkMail: Pick<LinkMail, 'offered' | 'begin' | 'statesOf'>
  passwordPolicy: Pick<PasswordPolicy, 'insteadOfPassword'>
  /** Counts the mails to a user who has forgotten the password. */
  limiter: Pick<RateLimiter, 'take'>
  log: Log
  now: () => Date
  newId: () => string
}

function shownToken ({ page }: Options): NewToken {
  const token = makeSecret()
  return { shown: { token, url: page === undefined ? null : `${page}/${token}` }, stored: { digest: digestOf(token) } }
}

/** A secret that is shown, or one that is mailed once it is stored. */
async function newToken (options: Options, { mailIn }: LinkDelivery, to: string, role: Role, companyId: number): Promise<NewToken> {
  const { linkMail } = options
  if (mailIn === undefined) return shownToken(options)
  if (role === 'operator') throw new DispatchError('conflict', 'A link that gives an operator is not mailed: leave "mailIn" out.')
  const { dispatchId, secret, send } = await linkMail.begin({ to, companyId })
  return {
    shown: { token: null, url: null },
    stored: { digest: digestOf(secret), dispatchId },
    send: (about) => send({ to, language: mailIn, companyId, ...about })
  }
}

const companyOf = async ({ database }: Options, companyId: number): Promise<string> => (await findCompany(database, companyId))?.name ?? ''

/** Mails the invitation whose secret is stored. */
async function mail (options: Options, { send }: NewToken, { actor, author: { requestId } }: Requester, row: InvitationRow): Promise<void> {
  const company = await companyOf(options, actor.companyId)
  await send?.({ purpose: 'invitation', company, inviter: actor.email, requestId, expiresAt: row.expires_at })
}

/** Mails a user who has forgotten the password what they can do. */
async function help (
  options: Options,
  user: Account,
  language: MailLanguage,
  from: Pick<AuditAuthor, 'address' | 'requestId'>
): Promise<void> {
  const { limiter, passwordPolicy, linkMail, database, now, newId } = options
  const { companyId, userId, email: to } = user
  if (user.disabled || user.role === 'operator' || !isAddressAllowed(user.addresses, from.address)) return
  if ((await limiter.take(String(userId))).exceeded) return
  const [url, company, author] = [await passwordPolicy.insteadOfPassword(user, 'sign-in'), await companyOf(options, companyId), {
    userId,
    companyId,
    ...from
  }]
  const { dispatchId, secret, send } = await linkMail.begin({ to, companyId })
  const about = { to, language, companyId, company, requestId: from.requestId }
  if (url !== undefined) {
    await noteForgotten(database, user, { author, at: now() })
    await send({ ...about, purpose: 'provider', url })
    return
  }
  const link = { linkId: newId(), digest: digestOf(secret), dispatchId, madeBy: userId, lifetime: lifetimes.forgotten }
  const expiresAt = await insertPasswordLink(database, user, link, { author, at: now() })
  await send({ ...about, purpose: 'password', expiresAt })
}

/** A link that still counts, and whom it is for. */
async function find ({ database, accounts }: Options, token: string): Promise<Found> {
  const link = secretForm.test(token) ? await findLink(database, digestOf(token)) : undefined
  if (link === undefined) throw dead()
  const maker = await accounts.byId(link.made_by)
  if (maker === undefined || maker.disabled) throw dead()
  if (link.purpose === 'invitation') {
    if (!mayGive(maker, link) || await isOfOther(database, maker.companyId, link.email)) throw dead()
    return { link, email: link.email, addresses: maker.addresses }
  }
  const user = await accounts.byId(link.user_id)
  const isOwn = link.made_by === link.user_id
  if (user?.disabled !== false || user.passwordVersion !== link.password_version || !(isOwn || mayGive(maker, user))) throw dead()
  return { link, email: user.email, addresses: user.addresses }
}

const invite = (options: Options): Links['invite'] => async (by, { email: typed, role, services }, how = {}) => {
  const { database, newId, now } = options
  const { actor, author } = by
  requireGrantable(actor, role)
  requireOwned(actor, services)
  const email = normaliseEmail(typed)
  await refuseDomainOfOther(database, actor.companyId, email)
  const token = await newToken(options, how, email, role, actor.companyId)
  const link = { linkId: newId(), ...token.stored, madeBy: actor.userId, lifetime: lifetimes.invitation }
  const row = await insertInvitation(database, actor.companyId, { ...link, email, role, services, max: maxInvitations }, {
    author,
    at: now()
  })
  if (typeof row === 'string') throw new DispatchError('conflict', refusals[row])
  await mail(options, token, by, row)
  return { ...viewOf(row, mailing(row)), ...token.shown }
}

const renew = (options: Options): Links['renew'] => async (by, linkId, how = {}) => {
  const { database, now } = options
  const { actor, author } = by
  const all = await listInvitations(database, { companyId: actor.companyId, roles: rolesUpTo('operator') })
  const known = all.find((row) => row.link_id === linkId)
  if (known === undefined) return undefined
  await refuseDomainOfOther(database, actor.companyId, known.email)
  const token = await newToken(options, how, known.email, known.role, actor.companyId)
  const link = { linkId, ...token.stored, madeBy: actor.userId, lifetime: lifetimes.invitation }
  const row = await renewInvitation(database, actor.companyId, link, ({ role, services }) => {
    requireGrantable(actor, role)
    requireOwned(actor, services)
  }, { author, at: now() })
  if (row !== undefined) await mail(options, token, by, row)
  return row && { ...viewOf(row, mailing(row)), ...token.shown }
}

const resetPassword = (options: Options): Links['resetPassword'] => async ({ actor, author }, userId, how = {}) => {
  const { accounts, newId, database, now } = options
  const user = await accounts.byId(userId)
  if (user?.companyId !== actor.companyId || !rolesUpTo(actor.role).includes(user.role)) return undefined
  if (userId === actor.userId || userId === actor.impersonatorId) {
    throw new DispatchError('forbidden', 'One\'s own password is changed with the current one: PUT /api/v1/my/password.')
  }
  requireOwned(actor, user.services)
  if (user.disabled) throw new DispatchError('conflict', 'The user is disabled: enable them first.')
  const { shown, stored, send } = await newToken(options, how, user.email, user.role, user.companyId)
  const link = { linkId: newId(), ...stored, madeBy: actor.userId, lifetime: lifetimes.password }
  const expiresAt = await insertPasswordLink(database, user, link, { author, at: now() })
  await send?.({ purpose: 'password', company: await companyOf(options, user.companyId), requestId: author.requestId, expiresAt })
  return { ...shown, expiresAt: expiresAt.toISOString() }
}

const usedBy = (options: Options): Links['use'] => async ({ token, password }, from) => {
  const { now, database } = options
  const { link, email, addresses } = await find(options, token)
  if (!isAddressAllowed(addresses, from.address)) {
    throw new DispatchError('forbidden', 'The company does not permit requests from this address.')
  }
  requireGoodPassword(password, email)
  const use = { digest: digestOf(token), passwordHash: await hashPassword(password), from, at: now() }
  const done = link.purpose === 'invitation'
    ? await acceptInvitation(database, link, use)
    : await usePasswordLink(database, link, use)
  if (!done) throw dead()
}

/**
 * Invitations and links for passwords. Throws `not_found` for a link that is unknown, used or expired; `conflict` where none can be made or
 * mailed; `forbidden` for an address that the company does not permit, and for one's own password.
 */
export function createLinks (options: Options): Links {
  const { database, linkMail, now, accounts, log } = options
  const underWay = new Set<Promise<void>>()

  return {
    async list ({ companyId, role }, page) {
      const rows = await listInvitations(database, { companyId, roles: rolesUpTo(role) }, page)
      const states = await linkMail.statesOf(rows.flatMap(({ dispatch_id: id }) => id ?? []))
      return rows.map((row) => viewOf(row, mailOf(states.get(row.dispatch_id ?? ''))))
    },

    invite: invite(options),

    renew: renew(options),

    withdraw: ({ actor: { companyId, role }, author }, linkId) =>
      deleteInvitation(database, companyId, { linkId, roles: rolesUpTo(role) }, { author, at: now() }),

    resetPassword: resetPassword(options),

    offersForgotten: linkMail.offered,

    async forgotten ({ email, language = 'en' }, from) {
      if (!await linkMail.offered()) {
        throw new DispatchError('conflict', 'This service mails no links: ask an admin of your company for one.', {
          reason: 'no_link_by_mail'
        })
      }
      const found = isAddress(email).ok ? await accounts.byEmail(normaliseEmail(email)) : []
      const helping = Promise.all(found.slice(0, maxOfAddress).map((user) => help(options, user, language, from))).then(() => undefined,
        (err: unknown) => {
          log.warn({ err }, 'a link for a forgotten password was not mailed')
        }).finally(() => underWay.delete(helping))
      underWay.add(helping)
    },

    async drain () {
      await Promise.all(underWay)
    },

    async read (token) {
      const { link: { purpose, company, expires_at: expiresAt }, email } = await find(options, token)
      return { purpose, company, email, expiresAt: expiresAt.toISOString() }
    },

    use: usedBy(options)
  }
}

/** A secret as it is stored, and as its maker sees it; or what mails it. */
type NewToken = {
  shown: { token: string | null, url: string | null }
  stored: Pick<NewLink, 'digest' | 'dispatchId'>
  send?: (about: About) => Promise<void>
}
type About =
  & Pick<MailContent, 'company' | 'requestId' | 'expiresAt'>
  & ({ purpose: 'invitation', inviter: string } | { purpose: 'password' })

/** Most users with one address who are helped at once. */
const maxOfAddress = 5

const isAddress = compile(AccountEmail)

type Found = { link: LinkRow, email: string, addresses: readonly string[] }

const refusals = {
  taken: 'The company already has a user with this e-mail address: choose another one.',
  invited: 'This e-mail address is invited already: renew the invitation, or withdraw it first.',
  full: `There are ${maxInvitations} invitations: withdraw those that nobody needs.`
}

/** Whether who has made a link could still give such a role and such services. */
function mayGive (maker: Account, { role, services }: { role: Role, services: readonly string[] }): boolean {
  return maker.role !== 'member' && rolesUpTo(maker.role).includes(role) && (maker.role === 'operator' || coversServices(maker, services))
}

function dead (): DispatchError {
  return new DispatchError('not_found', 'This link is unknown, has been used or has expired: ask who has sent it for a new one.')
}

const mailing = ({ dispatch_id: id }: InvitationRow): InvitationView['mail'] => id === null ? null : 'sending'

/** What became of a mail, by the status of its dispatch. */
function mailOf (status: DispatchStatus | undefined): InvitationView['mail'] {
  if (status === undefined) return null
  return status === 'succeeded' ? 'sent' : status === 'failed' || status === 'cancelled' ? 'failed' : 'sending'
}

function viewOf (row: InvitationRow, mail: InvitationView['mail']): InvitationView {
  return {
    id: row.link_id,
    email: row.email,
    role: row.role,
    services: row.services,
    invitedBy: row.made_by,
    createdAt: row.made_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    expired: row.expired,
    mail
  }
}
