import type { MailLanguage } from '@dispatch/contract'
import { addSeconds, type Change, type Database, type Freshness, type SqlTimestamp } from '@dispatch/database'
import type { Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'
import type { Account, Person } from '../access/account.ts'
import { type AuditStamp, noteAudit } from '../audit/audit.ts'
import { personIn, type PersonRow } from './accounts.ts'
import type { UserRef } from './users.ts'

/** How long a session lasts: since the sign-in, and since the last use. In seconds. */
export type SessionLimits = { longest: number, idle: number }

export type NewSession = Pick<Account, 'companyId' | 'userId' | 'role' | 'passwordVersion'> & {
  sessionId: string
  digest: Buffer
  /** The client's address, and how its browser names itself. */
  address: string
  browser: string
  /** In which the user is mailed from now on; as before unless told. */
  language?: MailLanguage
  /** When they have proved who they are, where that is not now. */
  provedAt?: Date
}

const listed = ['session_id', 'company_id', 'user_id', 'role', 'password_version', 'address', 'browser', 'created_at', 'used_at'] as const

/** A session in a list. */
export type SessionRow = Pick<Selectable<Tables['sessions']>, typeof listed[number]>

/** How long a session lasts: twelve hours, and one hour without use. */
export const sessionLimits: SessionLimits = { longest: 43_200, idle: 3_600 }

/** By how many seconds the recorded last use may be late. */
const lag = 60

/** Records a session. Of the older ones of its user, those that have expired and those beyond the newest `max` are removed. */
export async function insertSession (database: Database, session: NewSession, limits: SessionLimits & { max: number }): Promise<void> {
  const { companyId, userId, sessionId, role, passwordVersion, digest, address, browser, language, provedAt } = session
  await database.company(companyId, async (queries) => {
    const ofUser = queries.selectFrom('sessions').select('session_id').where('company_id', '=', companyId).where('user_id', '=', userId)
    const kept = ofUser.where(lasting(database.now, limits)).orderBy('session_id', 'desc').limit(limits.max - 1)
    await queries.deleteFrom('sessions').where('company_id', '=', companyId).where('user_id', '=', userId)
      .where('session_id', 'not in', kept).execute()
    await queries.insertInto('sessions').values({
      session_id: sessionId,
      company_id: companyId,
      user_id: userId,
      digest,
      role,
      password_version: passwordVersion,
      address,
      browser,
      created_at: database.now,
      used_at: database.now,
      proved_at: provedAt === undefined ? database.now : sql<Date>`least(${provedAt}, ${database.now})`
    }).execute()
    if (language === undefined) return
    await queries.updateTable('users').set({ language }).where('company_id', '=', companyId).where('user_id', '=', userId)
      .where('language', 'is distinct from', language).execute()
  })
}

/** As whom the person of a session acts. `over`: their time is over. */
export type Acting = { userId: number, passwordVersion: number, until: Date }

/** A session that goes on: whose it is, when they have proved it last, and as whom they act. */
export type UsedSession = {
  sessionId: string
  person: Person
  passwordVersion: number
  provedAt: Date
  acting?: Acting & { over: boolean }
}

type UsedRow = PersonRow & {
  password_version: number
  session_id: string
  noted_long_ago: boolean
  proved_at: Date
  acting_user_id: number | null
  acting_password_version: number | null
  acting_until: Date | null
  over: boolean
  changes: Change[] | null
}

/**
 * The session with this digest that has not ended, and its user as they are now; its use is noted. It is read as the owner, because its
 * company is not known yet. Every page waits for this, so it is one statement, written by hand, which checks the freshness of caches, too.
 */
export async function useSession (
  database: Database,
  digest: Buffer,
  { limits, freshness }: { limits: SessionLimits, freshness: Freshness }
): Promise<UsedSession | undefined> {
  const { owner, now } = database
  const { rows: [row] } = await sql<UsedRow>`
    select session_id, users.user_id, users.company_id, email, users.role, users.password_version, services, addresses,
      second_factor_required, second_factor_at, used_at < ${addSeconds(now, -lag)} as noted_long_ago,
      coalesce(proved_at, sessions.created_at) as proved_at,
      acting_user_id, acting_password_version, acting_until, acting_until <= ${now} as over,
      (select json_agg(changes) from changes where number > ${freshness.number()}) as changes
    from sessions join users on users.user_id = sessions.user_id and users.role = sessions.role
      and users.password_version = sessions.password_version
    join companies on companies.company_id = users.company_id
    where digest = ${digest} and ${lasting(now, limits)} and users.disabled_at is null and companies.disabled_at is null`.execute(owner)
  if (row === undefined) return undefined
  freshness.learn(row.changes ?? [])
  if (row.noted_long_ago) await owner.updateTable('sessions').set({ used_at: now }).where('digest', '=', digest).execute()
  const { acting_user_id: userId, acting_password_version: passwordVersion, acting_until: until, over } = row
  const isActing = userId !== null && passwordVersion !== null && until !== null
  const { session_id: sessionId, password_version: version, proved_at: provedAt } = row
  const session = { sessionId, person: personIn(row), passwordVersion: version, provedAt }
  return { ...session, ...isActing && { acting: { userId, passwordVersion, until, over } } }
}

/** Notes as whom the person of a session acts; null: as themselves again. False where there is no such session. */
export async function setActing (
  database: Database,
  { companyId, userId }: UserRef,
  sessionId: string,
  acting: Acting | null
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const { numUpdatedRows } = await queries.updateTable('sessions').set({
      acting_user_id: acting?.userId ?? null,
      acting_password_version: acting?.passwordVersion ?? null,
      acting_until: acting?.until ?? null
    }).where('company_id', '=', companyId).where('user_id', '=', userId).where('session_id', '=', sessionId).executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  })
}

/** Notes that the person of a session has proved again who they are; answers when. Undefined where there is no such session. */
export async function noteProof (
  database: Database,
  { companyId, userId }: UserRef,
  sessionId: string
): Promise<Date | undefined> {
  return database.company(companyId, async (queries) => {
    const noted = await queries.updateTable('sessions').set({ proved_at: database.now })
      .where('company_id', '=', companyId).where('user_id', '=', userId).where('session_id', '=', sessionId)
      .returning('proved_at').executeTakeFirst()
    return noted?.proved_at ?? undefined
  })
}

/** The sessions of a user that have not expired, the newest first. */
export async function listSessions (database: Database, { companyId, userId }: UserRef, limits: SessionLimits): Promise<SessionRow[]> {
  return database.company(companyId,
    (queries) =>
      queries.selectFrom('sessions').select(listed).where('company_id', '=', companyId).where('user_id', '=', userId)
        .where(lasting(database.now, limits)).orderBy('session_id', 'desc').execute())
}

/** Ends a session of a user. Answers false where there is no such session. */
export async function deleteSession (
  database: Database,
  { companyId, userId }: UserRef,
  sessionId: string,
  signature: AuditStamp
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const { numDeletedRows } = await queries.deleteFrom('sessions').where('company_id', '=', companyId).where('user_id', '=', userId)
      .where('session_id', '=', sessionId).executeTakeFirstOrThrow()
    if (numDeletedRows === 0n) return false
    await noteAudit(queries, { companyId, action: 'session.ended', object: { kind: 'session', id: sessionId }, ...signature })
    return true
  })
}

/** Who is present: a user, through a session at the console where there is one. */
export type Presence = { userId: number, sessionId?: string }

/** One text for each. */
export const presenceKey = ({ userId, sessionId = '' }: Presence): string => `${userId}/${sessionId}`

/** Whether those with these keys may stay: their user is enabled, and their session goes on, as them or acting as them. */
export async function readPresences ({ owner, now }: Database, keys: readonly string[]): Promise<Map<string, boolean>> {
  const { rows } = await sql<{ key: string, stays: boolean }>`
    select wanted.key, exists (select from users join companies using (company_id)
      where users.user_id = split_part(wanted.key, '/', 1)::integer and users.disabled_at is null and companies.disabled_at is null
    ) and (split_part(wanted.key, '/', 2) = '' or exists (
      select from sessions join users as own on own.user_id = sessions.user_id and own.role = sessions.role
        and own.password_version = sessions.password_version and own.disabled_at is null
      where session_id = nullif(split_part(wanted.key, '/', 2), '')::uuid and ${lasting(now, sessionLimits)}
        and (sessions.user_id = split_part(wanted.key, '/', 1)::integer
          or acting_user_id = split_part(wanted.key, '/', 1)::integer and acting_until > ${now})
    )) as stays from unnest(${keys}::text[]) as wanted (key)`.execute(owner)
  return new Map(rows.map(({ key, stays }) => [key, stays]))
}

export function lasting (now: SqlTimestamp, { longest, idle }: SessionLimits) {
  return sql<boolean>`sessions.created_at > ${addSeconds(now, -longest)} and used_at > ${addSeconds(now, -idle)}`
}
