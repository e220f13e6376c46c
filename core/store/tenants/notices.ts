import type { JsonObject } from '@dispatch/common'
import { type Selectable, sql } from 'kysely'
import type { CompanyQueries, Database, OwnerQueries } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'
import { addSeconds } from '../db/sql-timestamp.ts'

const listed = ['notice_id', 'company_id', 'email', 'action', 'by_user_id', 'address', 'at'] as const

export type NoticeRow = Pick<Selectable<Tables['notices']>, typeof listed[number]>

/** What the audit log has of a change. */
type Change = {
  companyId: number
  action: string
  object: { id: string }
  facts?: JsonObject
  author: { userId: number, impersonatorId?: number, address: string } | null
  at: Date
}

/** Whose way in, key or secret a change concerns, by its action; undefined: of nobody who must be told. */
const owners = {
  'key.created': ({ facts }) => facts?.['userId'],
  'passkey.added': ({ author }) => author?.userId,
  'passkey.removed': ({ author }) => author?.userId,
  'second_factor.set': ({ object }) => object.id,
  'second_factor.removed': ({ object }) => object.id,
  'second_factor.reset': ({ object }) => object.id,
  'recovery_codes.replaced': ({ object }) => object.id,
  'password.changed': ({ object }) => object.id,
  'password.reset': ({ object }) => object.id,
  'access.reset': ({ object }) => object.id,
  'identity.linked': ({ object }) => object.id,
  'identity.unlinked': ({ object }) => object.id,
  'user.changed': ({ object, facts }) => letsIn(facts) ? object.id : undefined,
  'callback-secret.rotated': ({ author }) => author?.userId,
  'callback-endpoint.created': ({ author }) => author?.userId,
  'callback-endpoint.changed': ({ author }) => author?.userId,
  'callback-endpoint.secret-rotated': ({ author }) => author?.userId,
  'single-sign-on.changed': ({ author }) => author?.userId,
  'single-sign-on.removed': ({ author }) => author?.userId,
  'link-mail.changed': ({ author }) => author?.userId,
  'link-mail.removed': ({ author }) => author?.userId
} as const satisfies Record<string, (change: Change) => unknown>

/** An action of which somebody is told. */
export type ToldAction = keyof typeof owners

/** A form may send the e-mail address of before. */
function letsIn ({ fields, previousEmail }: JsonObject = {}): boolean {
  return previousEmail !== undefined || Array.isArray(fields) && fields.includes('password')
}

/** Notes that somebody must be told of a change, in the transaction that makes it. */
export async function noteNotice (queries: CompanyQueries | OwnerQueries, change: Change): Promise<void> {
  const ownerOf: ((change: Change) => unknown) | undefined =
    (owners as Readonly<Record<string, (change: Change) => unknown>>)[change.action]
  const userId = Number(ownerOf?.(change) ?? 0)
  if (userId === 0) return
  const { companyId, action, author, facts, at } = change
  const user = await queries.selectFrom('users').select('email').where('company_id', '=', companyId).where('user_id', '=', userId)
    .executeTakeFirst()
  if (user === undefined) return
  const { previousEmail } = facts ?? {}
  await queries.insertInto('notices').values({
    company_id: companyId,
    user_id: userId,
    email: typeof previousEmail === 'string' ? previousEmail : user.email,
    action,
    by_user_id: author?.impersonatorId ?? author?.userId ?? null,
    address: author?.address ?? null,
    at,
    mailed_at: null
  }).execute()
}

/** The newest notices of a user. */
export async function listNotices (
  database: Database,
  { companyId, userId }: { companyId: number, userId: number },
  limit: number
): Promise<NoticeRow[]> {
  return database.reading(companyId,
    (queries) =>
      queries.selectFrom('notices').select(listed).where('company_id', '=', companyId).where('user_id', '=', userId)
        .orderBy('notice_id', 'desc').limit(limit).execute())
}

/** `within`: seconds, older ones are not taken. `limit`: notices in all. `addresses`: of one company. */
type Taking = { within: number, limit: number, addresses: number }

/**
 * Takes notices that nobody has mailed: each is taken once. Companies take turns, so that none keeps the others from being told. They are
 * read as the owner.
 */
export async function takeNotices ({ owner, now }: Database, { within, limit, addresses }: Taking): Promise<NoticeRow[]> {
  const waiting = sql<string>`(
    select notice_id from (
      select notice_id, dense_rank() over (partition by company_id order by first) as address,
        row_number() over (partition by company_id order by first, notice_id) as turn
      from (
        select company_id, notice_id, min(notice_id) over (partition by company_id, email) as first
        from notices where mailed_at is null and at > ${addSeconds(now, -within)}
      ) as by_address
    ) as in_turns where address <= ${addresses} order by turn, notice_id limit ${limit})`
  return owner.updateTable('notices').set({ mailed_at: now }).where('mailed_at', 'is', null).where('notice_id', 'in', waiting).returning(
    listed
  ).execute()
}

/** Gives notices back whose mail could not be asked for. */
export async function returnNotices (database: Database, companyId: number, ids: readonly string[]): Promise<void> {
  await database.company(companyId,
    (queries) =>
      queries.updateTable('notices').set({ mailed_at: null }).where('company_id', '=', companyId).where('notice_id', 'in', ids).execute())
}
