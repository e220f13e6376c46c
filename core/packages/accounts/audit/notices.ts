import type { JsonObject } from '@dispatch/common'
import type { MailLanguage } from '@dispatch/contract'
import { addSeconds, type CompanyQueries, type Database, type OwnerQueries, type SqlTimestamp } from '@dispatch/database'
import type { Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'

const listed = ['notice_id', 'company_id', 'email', 'action', 'by_user_id', 'address', 'at'] as const

const returned = ['notice_id', 'notices.company_id', 'notices.email', 'action', 'by_user_id', 'address', 'at'] as const

export type NoticeRow = Pick<Selectable<Tables['notices']>, typeof listed[number]>

/** A change as the audit log records it. */
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
  'configuration.changed': ({ author, facts }) => redirects(facts) ? author?.userId : undefined,
  'callback-secret.rotated': ({ author }) => author?.userId,
  'callback-endpoint.created': ({ author }) => author?.userId,
  'callback-endpoint.changed': ({ author }) => author?.userId,
  'callback-endpoint.secret-rotated': ({ author }) => author?.userId,
  // All admins are notified of what the service does by itself.
  'callback-endpoint.failing': () => 'admins',
  'callback-endpoint.disabled': () => 'admins',
  'single-sign-on.changed': ({ author }) => author?.userId,
  'single-sign-on.removed': ({ author }) => author?.userId,
  'link-mail.changed': ({ author }) => author?.userId,
  'link-mail.removed': ({ author }) => author?.userId
} as const satisfies Record<string, (change: Change) => unknown>

/** An action of which somebody is told. */
export type NoticeAction = keyof typeof owners

/** A form may send the e-mail address of before. */
function letsIn ({ fields, previousEmail }: JsonObject = {}): boolean {
  return previousEmail !== undefined || Array.isArray(fields) && fields.includes('password')
}

/** Another place is where a provider's requests go to, or where it signs in. */
function redirects ({ destinations }: JsonObject = {}): boolean {
  return Array.isArray(destinations) && destinations.length > 0
}

/** Notes that somebody must be told of a change, in the transaction that makes it. */
export async function noteNotice (queries: CompanyQueries | OwnerQueries, change: Change): Promise<void> {
  const ownerOf: ((change: Change) => unknown) | undefined =
    (owners as Readonly<Record<string, (change: Change) => unknown>>)[change.action]
  const whose = ownerOf?.(change) ?? 0
  if (whose === 0) return
  const { companyId, action, author, facts, at } = change
  const users = await queries.selectFrom('users').select(['user_id', 'email']).where('company_id', '=', companyId)
    .$if(whose === 'admins', (query) => query.where('role', '=', 'admin').where('disabled_at', 'is', null))
    .$if(whose !== 'admins', (query) => query.where('user_id', '=', Number(whose))).execute()
  if (users.length === 0) return
  const { previousEmail } = facts ?? {}
  await queries.insertInto('notices').values(users.map((user) => ({
    company_id: companyId,
    user_id: user.user_id,
    email: typeof previousEmail === 'string' ? previousEmail : user.email,
    action,
    by_user_id: author?.impersonatorId ?? author?.userId ?? null,
    address: author?.address ?? null,
    at,
    mailed_at: null
  }))).execute()
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

/** `within`: seconds, older ones are not taken. `limit`: notices in all. `addresses`: of one company. `daily`: mails of one company. */
type Taking = { within: number, limit: number, addresses: number, daily: number }

/** What one mail tells somebody. Its id is that of its dispatch; `isRepeat`: it was taken before, and its dispatch may be there. */
export type NoticeMail = { id: string, to: string, language: MailLanguage, isRepeat: boolean, notices: NoticeRow[] }

/** In seconds. */
const day = 86_400
/** After how many seconds a mail is taken again whose process has gone before the dispatch was recorded. */
const takenAgainAfter = 60

/**
 * Takes notices that nobody has mailed, one mail for each address, whatever companies it has users in. Companies take turns, so that none
 * keeps the others from being told; one that has had its mails of a day waits. A mail whose dispatch was not recorded is taken again, whole
 * and under the same id. All are read as the owner. `newId`: makes ids of dispatches.
 */
export function takeNotices ({ owner, now }: Database, taking: Taking, newId: () => string): Promise<NoticeMail[]> {
  return owner.transaction().execute((queries) => takeWithin(queries, now, taking, newId))
}

/** The same, within a transaction. */
export async function takeWithin (
  queries: OwnerQueries,
  now: SqlTimestamp,
  { within, limit, addresses, daily }: Taking,
  newId: () => string
): Promise<NoticeMail[]> {
  const since = addSeconds(now, -within)
  const waiting = sql<string>`(
    with mailed as (
      select company_id, count(distinct mail_id) as mails from notices
      where mail_id is not null and mailed_at > ${addSeconds(now, -day)} group by company_id
    )
    select notice_id from (
      select notice_id, company_id, dense_rank() over (partition by company_id order by first) as address,
        row_number() over (partition by company_id order by first, notice_id) as turn
      from (
        select company_id, notice_id, min(notice_id) over (partition by company_id, email) as first
        from notices where mailed_at is null and at > ${since}
      ) as by_address
    ) as in_turns left join mailed using (company_id)
    where address <= least(${addresses}, ${daily} - coalesce(mails, 0)) order by turn, notice_id limit ${limit})`
  const isInterrupted = sql<boolean>`mail_id is not null and recorded_at is null and at > ${since}
    and mailed_at < ${addSeconds(now, -takenAgainAfter)}`
  const taken = await queries.updateTable('notices').from('users').set({ mailed_at: now })
    .whereRef('users.company_id', '=', 'notices.company_id').whereRef('users.user_id', '=', 'notices.user_id')
    .where((row) => row.or([row.and([row('mailed_at', 'is', null), row('notice_id', 'in', waiting)]), isInterrupted]))
    .returning([...returned, 'mail_id', 'language']).execute()
  const mails = [...Map.groupBy(taken, ({ mail_id: id, email }) => id ?? email).values()].map((rows): NoticeMail => {
    const notices = rows.toSorted((one, other) => one.at.getTime() - other.at.getTime())
    const [known] = rows.flatMap(({ mail_id: id }) => id ?? [])
    const [language = 'en'] = rows.flatMap((row) => row.language ?? [])
    return { id: known ?? newId(), to: rows[0]?.email ?? '', language, isRepeat: known !== undefined, notices }
  })
  for (const { id, isRepeat, notices } of mails) {
    if (!isRepeat) await queries.updateTable('notices').set({ mail_id: id }).where('notice_id', 'in', idsOf(notices)).execute()
  }
  return mails
}

/** The dispatch of a mail is there: it is not taken again. */
export async function noteRecorded ({ owner, now }: Database, mailId: string): Promise<void> {
  await owner.updateTable('notices').set({ recorded_at: now }).where('mail_id', '=', mailId).execute()
}

/** Whether the dispatch of a mail is there. */
export async function isRecorded ({ owner }: Database, mailId: string): Promise<boolean> {
  return await owner.selectFrom('dispatches').select('dispatch_id').where('dispatch_id', '=', mailId).executeTakeFirst() !== undefined
}

const idsOf = (notices: readonly NoticeRow[]): string[] => notices.map(({ notice_id: id }) => id)
