import { type AuditAuthor, type AuditStamp, noteAudit, type UserRef } from '@dispatch/accounts'
import { domainHolder, unlessTaken, userRow, voidSessions } from '@dispatch/accounts/people'
import type { Envelope } from '@dispatch/common'
import type { Role } from '@dispatch/contract'
import { addSeconds, type CompanyQueries, type Database } from '@dispatch/database'
import { type Selectable, sql } from 'kysely'
import { type SingleSignOnTables, tablesIn } from './tables.ts'

const whole = ['company_id', 'code', 'issuer', 'client_id', 'client_secret', 'creates_users', 'default_role', 'default_services',
  'links_by_email', 'required', 'way_in', 'shared_until', 'trusts_email', 'updated_at'] as const
/** The same of a row that is read beside others. */
const wholeOf = whole.map((column) => `single_sign_on.${column}` as const)

/** The single sign-on of a company. `shared_until`: until when its client may go on with the address that all companies shared. */
export type SingleSignOnRow = Selectable<SingleSignOnTables['single_sign_on']>

/** The same with the name of its company. */
export type NamedSignOn = { row: SingleSignOnRow, company: string }

export async function readSingleSignOn (database: Database, companyId: number): Promise<SingleSignOnRow | undefined> {
  return database.company(companyId,
    (queries) => tablesIn(queries).selectFrom('single_sign_on').select(whole).where('company_id', '=', companyId).executeTakeFirst())
}

/**
 * That of a company which is not disabled, by its code, by the domain of its addresses, or by its id. Read as the owner, because the
 * company of the former two is not known yet.
 */
export async function findSignOn (
  { owner }: Database,
  by: { code: string } | { domain: string } | { companyId: number }
): Promise<NamedSignOn | undefined> {
  const found = await tablesIn(owner).selectFrom('single_sign_on').innerJoin('companies', 'companies.company_id',
    'single_sign_on.company_id')
    .select(wholeOf).select('companies.name as company').where('companies.disabled_at', 'is', null)
    .where((where) => {
      if ('code' in by) return where('single_sign_on.code', '=', by.code)
      const id = 'companyId' in by
        ? by.companyId
        : where.selectFrom('company_domains').select('company_domains.company_id').where('domain', '=', by.domain)
      return where('single_sign_on.company_id', '=', id)
    }).executeTakeFirst()
  if (found === undefined) return undefined
  const { company, ...row } = found
  return { row, company }
}

/** Notes that the answer to a sign-in has come. False where it has come before; those whose time is over are forgotten. */
export async function noteAnswer ({ owner, now }: Database, digest: Buffer, seconds: number): Promise<boolean> {
  await tablesIn(owner).deleteFrom('sign_on_answers').where('expires_at', '<=', now).execute()
  const { numInsertedOrUpdatedRows } = await tablesIn(owner).insertInto('sign_on_answers').values({
    digest,
    expires_at: addSeconds(now, seconds)
  })
    .onConflict((any) => any.doNothing()).executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/**
 * Whether an e-mail address is another company's: its domain is, or another company has a user with it. Where the domain is the company's
 * own, it is not: an operator answers for that. Read as the owner.
 */
export async function isElsewhere (
  { owner }: Database,
  companyId: number,
  { email, domain }: { email: string, domain: string }
): Promise<boolean> {
  const holder = await domainHolder({ owner }, domain)
  if (holder !== undefined) return holder !== companyId
  const user = await owner.selectFrom('users').select('user_id').where('email', '=', email).where('company_id', '<>', companyId)
    .limit(1).executeTakeFirst()
  return user !== undefined
}

/** How many users of a company an issuer knows. */
export async function countIdentities (database: Database, companyId: number, issuer: string): Promise<number> {
  return database.company(companyId, async (queries) => {
    const { linked } = await tablesIn(queries).selectFrom('user_identities').select(sql<number>`count(*)::integer`.as('linked'))
      .where('company_id', '=', companyId).where('issuer', '=', issuer).executeTakeFirstOrThrow()
    return linked
  })
}

/** Whether an issuer knows a user. */
export async function isKnown (database: Database, { companyId, userId }: UserRef, issuer: string): Promise<boolean> {
  return database.company(companyId,
    async (queries) =>
      await tablesIn(queries).selectFrom('user_identities').select('user_id').where('company_id', '=', companyId).where('user_id', '=',
        userId)
        .where('issuer', '=', issuer).executeTakeFirst() !== undefined)
}

export type NewSingleSignOn = Omit<SingleSignOnRow, 'company_id' | 'client_secret' | 'updated_at'> & { client_secret: Envelope }

/** Stores the single sign-on of a company, in the place of an earlier one; the code of that stays. */
export async function storeSingleSignOn (
  database: Database,
  companyId: number,
  { client_secret: secret, ...row }: NewSingleSignOn,
  fields: readonly string[],
  signature: AuditStamp
): Promise<SingleSignOnRow> {
  return database.company(companyId, async (queries) => {
    const values = { ...row, default_services: [...row.default_services], client_secret: JSON.stringify(secret), updated_at: signature.at }
    const { code: _, ...changes } = values
    const stored = await tablesIn(queries).insertInto('single_sign_on').values({ ...values, company_id: companyId })
      .onConflict((conflict) => conflict.column('company_id').doUpdateSet(changes)).returning(whole).executeTakeFirstOrThrow()
    const { issuer, required } = row
    const object = { kind: 'company', id: String(companyId) }
    const facts = { fields: [...fields], issuer, required }
    await noteAudit(queries, { companyId, action: 'single-sign-on.changed', object, facts, ...signature })
    return stored
  })
}

/** Forgets the single sign-on of a company, and as whom it knew the users. False where there is none. */
export async function deleteSingleSignOn (database: Database, companyId: number, signature: AuditStamp): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const { numDeletedRows } = await tablesIn(queries).deleteFrom('single_sign_on').where('company_id', '=', companyId)
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) return false
    await tablesIn(queries).deleteFrom('user_identities').where('company_id', '=', companyId).execute()
    const object = { kind: 'company', id: String(companyId) }
    await noteAudit(queries, { companyId, action: 'single-sign-on.removed', object, ...signature })
    return true
  })
}

/** A person as an issuer knows them. */
export type Identity = { companyId: number, issuer: string, subject: string }

/**
 * Forgets as whom issuers know a user, and ends the user's tokens and sessions but the one that is kept. False where no issuer knows the
 * user.
 */
export async function deleteIdentities (
  database: Database,
  { companyId, userId, keptSession }: UserRef & { keptSession?: string | undefined },
  signature: AuditStamp
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const { numDeletedRows } = await tablesIn(queries).deleteFrom('user_identities').where('company_id', '=', companyId).where('user_id',
      '=', userId)
      .executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) return false
    await voidSessions(queries, { companyId, userId, keptSession })
    const object = { kind: 'user', id: String(userId) }
    await noteAudit(queries, { companyId, action: 'identity.unlinked', object, ...signature })
    return true
  })
}

/** From where a person signs in: they are the author of what it changes. */
export type SigningOn = { from: Pick<AuditAuthor, 'address' | 'requestId'>, at: Date }

/** The user whom the issuer knows by this subject. */
export async function findIdentity (database: Database, { companyId, issuer, subject }: Identity): Promise<number | undefined> {
  return database.company(companyId, async (queries) => {
    const row = await tablesIn(queries).selectFrom('user_identities').select('user_id').where('company_id', '=', companyId)
      .where('issuer', '=', issuer).where('subject', '=', subject).executeTakeFirst()
    return row?.user_id
  })
}

/** The user of a company with this e-mail address. */
export async function findByEmail (
  database: Database,
  companyId: number,
  email: string
): Promise<{ userId: number, role: Role } | undefined> {
  return database.company(companyId,
    (queries) =>
      queries.selectFrom('users').select(['user_id as userId', 'role']).where('company_id', '=', companyId).where('email', '=', email)
        .executeTakeFirst())
}

/** Notes as whom an issuer knows a user. False where it knows the user, or the subject, otherwise. */
export async function insertIdentity (
  database: Database,
  identity: Identity,
  { userId, by }: Pick<UserRef, 'userId'> & { by: 'email' | 'password' },
  signingOn: SigningOn
): Promise<boolean> {
  return database.company(identity.companyId, async (queries) => {
    if (!await link(queries, identity, userId, signingOn.at)) return false
    await note(queries, 'identity.linked', identity, { userId, facts: { by } }, signingOn)
    return true
  })
}

/** Makes a user whom an issuer knows. Undefined where the company has one with the e-mail address, or the issuer knows the subject. */
export async function insertUserOf (
  database: Database,
  identity: Identity,
  user: { email: string, role: Role, services: readonly string[], passwordHash: string },
  signingOn: SigningOn
): Promise<number | undefined> {
  return unlessTaken(database.company(identity.companyId, async (queries) => {
    const { user_id: userId } = await userRow(queries, identity.companyId, user, signingOn.at)
    // Where the same person was let in at the same moment, the e-mail address has been refused before.
    await link(queries, identity, userId, signingOn.at)
    const { email, role, services } = user
    await note(queries, 'user.created', identity, { userId, facts: { email, role, services: [...services] } }, signingOn)
    return userId
  }))
}

async function link (queries: CompanyQueries, { companyId, issuer, subject }: Identity, userId: number, at: Date): Promise<boolean> {
  const row = { company_id: companyId, user_id: userId, issuer, subject, linked_at: at }
  const { numInsertedOrUpdatedRows } = await tablesIn(queries).insertInto('user_identities').values(row).onConflict((any) =>
    any.doNothing()
  )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** Forgets as whom issuers know a user. */
export async function endIdentities (queries: CompanyQueries, { companyId, userId }: UserRef): Promise<void> {
  await tablesIn(queries).deleteFrom('user_identities').where('company_id', '=', companyId).where('user_id', '=', userId).execute()
}

function note (
  queries: CompanyQueries,
  action: string,
  { companyId, issuer }: Identity,
  { userId, facts }: { userId: number, facts: object },
  { from, at }: SigningOn
): Promise<void> {
  const [author, object] = [{ userId, companyId, ...from }, { kind: 'user', id: String(userId) }]
  return noteAudit(queries, { companyId, action, object, facts: { ...facts, issuer }, author, at })
}
