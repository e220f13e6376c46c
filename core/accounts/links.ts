import { type Account, type Accounts, type Actor, normaliseEmail, type Role } from '../access/account.ts'
import { digestOf } from '../access/api-key.ts'
import { isAddressAllowed } from '../access/networks.ts'
import { requireGoodPassword } from '../access/password-rules.ts'
import { hashPassword } from '../access/passwords.ts'
import { coversServices, rolesUpTo } from '../access/permissions.ts'
import { DispatchError } from '../contract/errors.ts'
import type { InvitationBody, InvitationView, InvitationWithLink, LinkUseBody, LinkView, PasswordLinkView } from '../contract/links.ts'
import type { Database } from '../store/db/database.ts'
import type { AuditAuthor } from '../store/tenants/audit.ts'
import { acceptInvitation, deleteInvitation, findLink, insertInvitation, insertPasswordLink, type InvitationRow, type LinkRow,
  listInvitations, renewInvitation, usePasswordLink } from '../store/tenants/links.ts'
import { makeSecret, secretForm } from './secret.ts'
import { type Requester, requireGrantable, requireOwned } from './users.ts'

/**
 * One-time links with which a person chooses a password: invitations, which make a user, and links for another password. A link ends when
 * it is used, withdrawn or renewed, after its time, and when who has made it could not do so any more. Invitations to a higher role than
 * the actor's are not visible.
 */
export type Links = {
  list: (actor: Actor) => Promise<InvitationView[]>
  /**
   * Throws `forbidden` for a role above the actor's or for services that the actor does not have, and `conflict` for an e-mail address that
   * a user or an invitation of the company has, or where there are 200 invitations.
   */
  invite: (by: Requester, invitation: InvitationBody) => Promise<InvitationWithLink>
  /** Gives an invitation another link. Throws `forbidden` as `invite`. Undefined when there is no such invitation. */
  renew: (by: Requester, id: string) => Promise<InvitationWithLink | undefined>
  /** False when there is no such invitation. */
  withdraw: (by: Requester, id: string) => Promise<boolean>
  /**
   * A link for another password of another user of the company. Throws `forbidden` for the actor's own user, or one with services that the
   * actor does not have, and `conflict` for one who is disabled. Undefined when there is no such user.
   */
  resetPassword: (by: Requester, userId: number) => Promise<PasswordLinkView | undefined>
  /** What a link is for. Throws `not_found`, with the same message for a link that never was, has been used or has expired. */
  read: (token: string) => Promise<LinkView>
  /** Throws as `read`, `forbidden` for an address that the company's list does not allow, and `validation_failed` for a bad password. */
  use: (use: LinkUseBody, from: Pick<AuditAuthor, 'address' | 'requestId'>) => Promise<void>
}

/** In seconds: seven days, and one. */
const lifetimes = { invitation: 604_800, password: 86_400 }

/** Most invitations of a company. */
const most = 200

type Options = {
  database: Database
  accounts: Accounts
  /** Where people choose their password: `<page>/<token>`; undefined without a console. */
  page: string | undefined
  now: () => Date
  newId: () => string
}

export function createLinks ({ database, accounts, page, now, newId }: Options): Links {
  const newToken = (): { token: string, url: string | null, digest: Buffer } => {
    const token = makeSecret()
    return { token, url: page === undefined ? null : `${page}/${token}`, digest: digestOf(token) }
  }

  /** A link that still counts, and whom it is for. */
  async function find (token: string): Promise<Found> {
    const link = secretForm.test(token) ? await findLink(database, digestOf(token)) : undefined
    if (link === undefined) throw dead()
    const maker = await accounts.byId(link.made_by)
    if (maker === undefined || maker.disabled) throw dead()
    if (link.purpose === 'invitation') {
      if (!mayGive(maker, link)) throw dead()
      return { link, email: link.email, addresses: maker.addresses }
    }
    const user = await accounts.byId(link.user_id)
    if (user === undefined || user.disabled || user.passwordVersion !== link.password_version || !mayGive(maker, user)) throw dead()
    return { link, email: user.email, addresses: user.addresses }
  }

  return {
    async list ({ companyId, role }) {
      return (await listInvitations(database, companyId, rolesUpTo(role))).map(viewOf)
    },

    async invite ({ actor, author }, { email, role, services }) {
      requireGrantable(actor, role)
      requireOwned(actor, services)
      const { digest, ...shown } = newToken()
      const link = { linkId: newId(), digest, madeBy: actor.userId, lifetime: lifetimes.invitation }
      const invitation = { email: normaliseEmail(email), role, services, most }
      const row = await insertInvitation(database, actor.companyId, { ...link, ...invitation }, { author, at: now() })
      if (typeof row === 'string') throw new DispatchError('conflict', refusals[row])
      return { ...viewOf(row), ...shown }
    },

    async renew ({ actor, author }, linkId) {
      const { digest, ...shown } = newToken()
      const link = { linkId, digest, madeBy: actor.userId, lifetime: lifetimes.invitation }
      const row = await renewInvitation(database, actor.companyId, link, ({ role, services }) => {
        requireGrantable(actor, role)
        requireOwned(actor, services)
      }, { author, at: now() })
      return row && { ...viewOf(row), ...shown }
    },

    withdraw: ({ actor: { companyId, role }, author }, linkId) =>
      deleteInvitation(database, companyId, { linkId, roles: rolesUpTo(role) }, { author, at: now() }),

    async resetPassword ({ actor, author }, userId) {
      const user = await accounts.byId(userId)
      if (user?.companyId !== actor.companyId || !rolesUpTo(actor.role).includes(user.role)) return undefined
      if (userId === actor.userId || userId === actor.impersonatorId) {
        throw new DispatchError('forbidden', 'One\'s own password is changed with the current one: PUT /api/v1/my/password.')
      }
      requireOwned(actor, user.services)
      if (user.disabled) throw new DispatchError('conflict', 'The user is disabled: enable them first.')
      const { digest, ...shown } = newToken()
      const link = { linkId: newId(), digest, madeBy: actor.userId, lifetime: lifetimes.password }
      return { ...shown, expiresAt: (await insertPasswordLink(database, user, link, { author, at: now() })).toISOString() }
    },

    async read (token) {
      const { link: { purpose, company, expires_at: expiresAt }, email } = await find(token)
      return { purpose, company, email, expiresAt: expiresAt.toISOString() }
    },

    async use ({ token, password }, from) {
      const { link, email, addresses } = await find(token)
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
  }
}

type Found = { link: LinkRow, email: string, addresses: readonly string[] }

const refusals = {
  taken: 'The company already has a user with this e-mail address: choose another one.',
  invited: 'This e-mail address is invited already: renew the invitation, or withdraw it first.',
  full: `There are ${most} invitations: withdraw those that nobody needs.`
}

/** Whether who has made a link could still give such a role and such services. */
function mayGive (maker: Account, { role, services }: { role: Role, services: readonly string[] }): boolean {
  return maker.role !== 'member' && rolesUpTo(maker.role).includes(role) && (maker.role === 'operator' || coversServices(maker, services))
}

function dead (): DispatchError {
  return new DispatchError('not_found', 'This link is unknown, has been used or has expired: ask who has sent it for a new one.')
}

function viewOf (row: InvitationRow): InvitationView {
  return {
    id: row.link_id,
    email: row.email,
    role: row.role,
    services: row.services,
    invitedBy: row.made_by,
    createdAt: row.made_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    expired: row.expired
  }
}
