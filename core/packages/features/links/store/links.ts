import { type AuditAuthor, type AuditStamp, noteAudit, type UserRef } from '@dispatch/accounts'
import { setPassword, unlessTaken, userRow } from '@dispatch/accounts/people'
import type { Role } from '@dispatch/contract'
import { addSeconds, type CompanyQueries, type Database } from '@dispatch/database'
import { type Selectable, sql } from 'kysely'

type Tables = {
  one_time_links: {
    link_id: string
    company_id: number
    purpose: 'invitation' | 'password'
    digest: Buffer
    email: string | null
    role: Role | null
    services: string[] | null
    user_id: number | null
    password_version: number | null
    made_by: number
    made_at: Date
    expires_at: Date
    dispatch_id: string | null
  }
}

/** Queries that know the table of links. The migrations 039 and 047 of the core have made it. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<Tables>()
}

type Row = Selectable<Tables['one_time_links']>

/** An invitation in a list. */
export type InvitationRow = Pick<Row, 'link_id' | 'made_by' | 'made_at' | 'expires_at' | 'dispatch_id'> & {
  email: string
  role: Role
  services: string[]
  expired: boolean
}

/** A link that has not expired, and the name of its company. */
export type LinkRow =
  & Pick<Row, 'link_id' | 'company_id' | 'made_by' | 'expires_at'>
  & { company: string }
  & (
    | { purpose: 'invitation', email: string, role: Role, services: string[] }
    | { purpose: 'password', user_id: number, password_version: number }
  )

/** A link before it is stored. `lifetime` is in seconds; `dispatchId`: what mails it. */
export type NewLink = { linkId: string, digest: Buffer, madeBy: number, lifetime: number, dispatchId?: string }

const listed = ['link_id', 'email', 'role', 'services', 'made_by', 'made_at', 'expires_at', 'dispatch_id'] as const

const invitations = (database: Database, queries: CompanyQueries, companyId: number) =>
  tablesIn(queries).selectFrom('one_time_links').select([...listed, sql<boolean>`expires_at <= ${database.now}`.as('expired')])
    .where('company_id', '=', companyId).where('purpose', '=', 'invitation').$narrowType<InvitationRow>()

/** A page of at most `limit` invitations, those that are older than the one of the id `after`. */
export type InvitationPage = { limit?: number, after?: string }

/** The invitations of a company to one of the roles, the newest first: all of them, or a page. */
export async function listInvitations (
  database: Database,
  { companyId, roles }: { companyId: number, roles: readonly Role[] },
  { limit, after }: InvitationPage = {}
): Promise<InvitationRow[]> {
  return database.company(companyId, (queries) =>
    invitations(database, queries, companyId).where('role', 'in', roles)
      .$if(after !== undefined, (list) => list.where('link_id', '<', after ?? ''))
      .orderBy('link_id', 'desc')
      .$if(limit !== undefined, (list) => list.limit(limit ?? 0))
      .execute())
}

/** After so many seconds without a renewal an expired invitation is forgotten: 30 days. */
const forgottenAfter = 2_592_000

/**
 * Adds an invitation. `taken` where the company has a user of this e-mail address, `invited` where it has invited it, `full` where it has
 * `max` invitations.
 */
export async function insertInvitation (
  database: Database,
  companyId: number,
  { email, role, services, max, ...link }: NewLink & { email: string, role: Role, services: readonly string[], max: number },
  signature: AuditStamp
): Promise<InvitationRow | 'taken' | 'invited' | 'full'> {
  return database.company(companyId, async (queries) => {
    await queries.selectFrom('companies').select('company_id').where('company_id', '=', companyId).forNoKeyUpdate().execute()
    await tablesIn(queries).deleteFrom('one_time_links').where('company_id', '=', companyId).where('purpose', '=', 'invitation')
      .where(sql<boolean>`expires_at < ${addSeconds(database.now, -forgottenAfter)}`).execute()
    const known = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId).where('email', '=', email)
      .executeTakeFirst()
    if (known !== undefined) return 'taken'
    const open = await invitations(database, queries, companyId).execute()
    if (open.some((invitation) => invitation.email === email)) return 'invited'
    if (open.length >= max) return 'full'
    const row = { email, role, services: [...services] }
    await tablesIn(queries).insertInto('one_time_links').values({ ...rowOf(database, companyId, link), purpose: 'invitation', ...row })
      .execute()
    await note(queries, companyId, 'invitation.created', link.linkId, { ...row, ...mailed(link) }, signature)
    return await invitations(database, queries, companyId).where('link_id', '=', link.linkId).executeTakeFirstOrThrow()
  })
}

/** Gives an invitation another link; the one before is dead. Undefined where there is no such invitation. */
export async function renewInvitation (
  database: Database,
  companyId: number,
  { linkId, digest, madeBy, lifetime, dispatchId }: NewLink,
  /** Throws to refuse it. */
  check: (row: InvitationRow) => void,
  signature: AuditStamp
): Promise<InvitationRow | undefined> {
  return database.company(companyId, async (queries) => {
    const found = await invitations(database, queries, companyId).where('link_id', '=', linkId).forUpdate().executeTakeFirst()
    if (found === undefined) return undefined
    check(found)
    await tablesIn(queries).updateTable('one_time_links').set({
      digest,
      made_by: madeBy,
      made_at: database.now,
      expires_at: addSeconds(database.now, lifetime),
      dispatch_id: dispatchId ?? null
    }).where('company_id', '=', companyId).where('link_id', '=', linkId).execute()
    await note(queries, companyId, 'invitation.renewed', linkId, { email: found.email, ...mailed({ dispatchId }) }, signature)
    return await invitations(database, queries, companyId).where('link_id', '=', linkId).executeTakeFirstOrThrow()
  })
}

/** Takes an invitation to one of the roles back. False where there is none. */
export async function deleteInvitation (
  database: Database,
  companyId: number,
  { linkId, roles }: { linkId: string, roles: readonly Role[] },
  signature: AuditStamp
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const row = await tablesIn(queries).deleteFrom('one_time_links').where('company_id', '=', companyId).where('purpose', '=', 'invitation')
      .where('link_id', '=', linkId).where('role', 'in', roles).returning('email').executeTakeFirst()
    if (row === undefined) return false
    await note(queries, companyId, 'invitation.withdrawn', linkId, { email: row.email }, signature)
    return true
  })
}

/** Makes the link with which a user chooses another password, in the place of an earlier one. Answers when it expires. */
export async function insertPasswordLink (
  database: Database,
  { companyId, userId, passwordVersion }: UserRef & { passwordVersion: number },
  link: NewLink,
  signature: AuditStamp
): Promise<Date> {
  return database.company(companyId, async (queries) => {
    await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId).where('user_id', '=', userId).forNoKeyUpdate()
      .execute()
    await tablesIn(queries).deleteFrom('one_time_links').where('company_id', '=', companyId).where('purpose', '=', 'password')
      .where('user_id', '=', userId).execute()
    const row = { purpose: 'password', user_id: userId, password_version: passwordVersion } as const
    const { expires_at: expiresAt } = await tablesIn(queries).insertInto('one_time_links').values({
      ...rowOf(database, companyId, link),
      ...row
    })
      .returning('expires_at').executeTakeFirstOrThrow()
    const object = { kind: 'user', id: String(userId) }
    await noteAudit(queries, { companyId, action: 'password-link.created', object, facts: mailed(link), ...signature })
    return expiresAt
  })
}

/** Notes that a user has forgotten a password that they do not need. */
export async function noteForgotten (database: Database, { companyId, userId }: UserRef, signature: AuditStamp): Promise<void> {
  await database.company(companyId,
    (queries) =>
      noteAudit(queries, { companyId, action: 'password-link.refused', object: { kind: 'user', id: String(userId) }, ...signature }))
}

/** The link with this digest that has not expired, read as the owner, because its company is not known yet. */
export async function findLink ({ owner, now }: Database, digest: Buffer): Promise<LinkRow | undefined> {
  return tablesIn(owner).selectFrom('one_time_links').innerJoin('companies', 'companies.company_id', 'one_time_links.company_id')
    .select(['link_id', 'one_time_links.company_id', 'purpose', 'email', 'role', 'services', 'user_id', 'password_version', 'made_by',
      'expires_at', 'companies.name as company'])
    .where('digest', '=', digest).where(sql<boolean>`expires_at > ${now}`).$narrowType<LinkRow>().executeTakeFirst()
}

/** Who uses a link, and from where: the author of what it does is its user. */
export type LinkUse = { digest: Buffer, passwordHash: string, from: Pick<AuditAuthor, 'address' | 'requestId'>, at: Date }

/** Makes the user whom an invitation names. False where the link has ended meanwhile, or the company has got such a user. */
export async function acceptInvitation (
  database: Database,
  { company_id: companyId, link_id: linkId, email, role, services, made_by: invitedBy }: Extract<LinkRow, { purpose: 'invitation' }>,
  { digest, passwordHash, from, at }: LinkUse
): Promise<boolean> {
  const made = await unlessTaken(database.company(companyId, async (queries) => {
    if (!await take(database, queries, { companyId, linkId, digest })) return false
    const { user_id: userId } = await userRow(queries, companyId, { email, role, services, passwordHash }, at)
    const [author, object] = [{ userId, companyId, ...from }, { kind: 'user', id: String(userId) }]
    const facts = { email, role, services, invitedBy }
    await noteAudit(queries, { companyId, action: 'invitation.accepted', object, facts, author, at })
    return true
  }))
  return made === true
}

/** Sets the password that a user has chosen by a link. False where the link has ended meanwhile. */
export async function usePasswordLink (
  database: Database,
  { company_id: companyId, link_id: linkId, user_id: userId }: Extract<LinkRow, { purpose: 'password' }>,
  { digest, passwordHash, from, at }: LinkUse
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    if (!await take(database, queries, { companyId, linkId, digest })) return false
    await setPassword(queries, { companyId, userId }, passwordHash, at)
    const [author, object] = [{ userId, companyId, ...from }, { kind: 'user', id: String(userId) }]
    await noteAudit(queries, { companyId, action: 'password.reset', object, author, at })
    return true
  })
}

/** Ends a link. False where it has ended before. */
async function take (
  { now }: Database,
  queries: CompanyQueries,
  { companyId, linkId, digest }: { companyId: number, linkId: string, digest: Buffer }
): Promise<boolean> {
  const { numDeletedRows } = await tablesIn(queries).deleteFrom('one_time_links').where('company_id', '=', companyId).where('link_id', '=',
    linkId)
    .where('digest', '=', digest).where(sql<boolean>`expires_at > ${now}`).executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** What the audit log says of a link that is mailed. */
const mailed = ({ dispatchId }: { dispatchId?: string | undefined }): { dispatchId?: string } =>
  dispatchId === undefined ? {} : { dispatchId }

/** Ends the links of a user: those that are for them, and those that they have made. */
export async function endLinks (queries: CompanyQueries, { companyId, userId }: UserRef): Promise<void> {
  await tablesIn(queries).deleteFrom('one_time_links').where('company_id', '=', companyId)
    .where((link) => link.or([link('user_id', '=', userId), link('made_by', '=', userId)])).execute()
}

/** Makes an invitation to a company, for tests of the walls between companies. */
export async function fillLinks (queries: Database['owner'], companyId: number): Promise<void> {
  const now = sql<Date>`now()`
  const { user_id: userId } = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  await tablesIn(queries).insertInto('one_time_links').values({
    link_id: sql<string>`gen_random_uuid()`,
    company_id: companyId,
    purpose: 'invitation',
    digest: Buffer.from(String(companyId)),
    email: 'guest@example.com',
    role: 'member',
    services: [],
    made_by: userId,
    made_at: now,
    expires_at: now
  }).execute()
}

function rowOf (database: Database, companyId: number, { linkId, digest, madeBy, lifetime, dispatchId }: NewLink) {
  return {
    link_id: linkId,
    company_id: companyId,
    digest,
    made_by: madeBy,
    made_at: database.now,
    expires_at: addSeconds(database.now, lifetime),
    dispatch_id: dispatchId ?? null
  }
}

function note (
  queries: CompanyQueries,
  companyId: number,
  action: string,
  linkId: string,
  facts: { email: string | null, role?: Role, services?: string[], dispatchId?: string },
  signature: AuditStamp
): Promise<void> {
  return noteAudit(queries, { companyId, action, object: { kind: 'invitation', id: linkId }, facts, ...signature })
}
