import type { JsonObject } from '@dispatch/common'
import type { Role } from '@dispatch/contract'
import type { CompanyQueries, Database, OwnerQueries } from '@dispatch/database'
import type { Tables } from '@dispatch/tables'
import type { Selectable } from 'kysely'
import { type AuditStamp, noteAudit } from '../audit/audit.ts'
import type { NewUser } from './accounts.ts'

/** The columns of its users that a company may read. */
const readable = ['user_id', 'company_id', 'email', 'role', 'services', 'disabled_at', 'created_at', 'second_factor_at'] as const
export type UserRow = Pick<Selectable<Tables['users']>, typeof readable[number]>

/** A change of a user. Absent fields stay as they are. */
export type UserChange = { email?: string, passwordHash?: string, role?: Role, services?: readonly string[], disabled?: boolean }

/** A user and their company. */
export type UserRef = { companyId: number, userId: number }

/** A page of a company's users with one of the roles. The last id is the cursor. */
export async function listUsers (
  database: Database,
  companyId: number,
  { roles, limit, after = '0' }: { roles: readonly Role[], limit: number, after?: string }
): Promise<UserRow[]> {
  return database.company(companyId, (queries) =>
    queries.selectFrom('users').select(readable).where('company_id', '=', companyId)
      .where('role', 'in', roles).where('user_id', '>', Number(after)).orderBy('user_id').limit(limit).execute())
}

export async function findUser (database: Database, { companyId, userId }: UserRef): Promise<UserRow | undefined> {
  return database.company(companyId,
    (queries) =>
      queries.selectFrom('users').select(readable).where('company_id', '=', companyId).where('user_id', '=', userId).executeTakeFirst())
}

/** The user of a company with this e-mail address. */
export async function findUserByEmail (database: Database, companyId: number, email: string): Promise<UserRow | undefined> {
  return database.company(companyId,
    (queries) =>
      queries.selectFrom('users').select(readable).where('company_id', '=', companyId).where('email', '=', email).executeTakeFirst())
}

/** Adds a user. Undefined where a user of the company has the e-mail address. */
export async function addUser (database: Database, companyId: number, user: NewUser, signature: AuditStamp): Promise<UserRow | undefined> {
  return unlessTaken(database.company(companyId, (queries) => insertUser(queries, companyId, user, signature)))
}

/** Adds a user and the entry in the audit log, in a transaction of the caller. */
export async function insertUser (
  queries: CompanyQueries | OwnerQueries,
  companyId: number,
  { passwordHash, ...user }: NewUser,
  signature: AuditStamp
): Promise<UserRow> {
  const row = await userRow(queries, companyId, { ...user, passwordHash }, signature.at)
  await note(queries, row, 'user.created', user, signature)
  return row
}

/** Adds a user, in a transaction of the caller, who notes it. */
export async function userRow (
  queries: CompanyQueries | OwnerQueries,
  companyId: number,
  { passwordHash, ...user }: NewUser,
  at: Date
): Promise<UserRow> {
  return queries.insertInto('users').values({
    ...user,
    company_id: companyId,
    services: [...user.services],
    password_hash: passwordHash,
    password_set_at: at,
    created_at: at
  })
    .returning(readable).executeTakeFirstOrThrow()
}

/** Decides on the change of a user, or throws to refuse it. `others`: the roles of all other enabled users of the company. */
export type Decide = (user: UserRow, others: readonly Role[]) => UserChange

/**
 * Changes a user as `decide` says. Meanwhile no other user of the company can be changed. Undefined where there is no such user, `taken`
 * where another user of the company has the e-mail address.
 */
export async function updateUser (
  database: Database,
  { companyId, userId }: UserRef,
  decide: Decide,
  signature: AuditStamp
): Promise<UserRow | 'taken' | undefined> {
  const changed = await unlessTaken(database.company(companyId, async (queries) => {
    await queries.selectFrom('companies').select('company_id').where('company_id', '=', companyId).forNoKeyUpdate().execute()
    const users = await queries.selectFrom('users').select(readable).where('company_id', '=', companyId)
      .where((where) => where.or([where('user_id', '=', userId), where('disabled_at', 'is', null)])).execute()
    const user = users.find((one) => one.user_id === userId)
    if (user === undefined) return 'unknown'
    const change = decide(user, users.filter((one) => one !== user).map(({ role }) => role))
    const row = await update(queries, user, change, signature.at)
    const before = change.email === undefined || change.email === user.email ? {} : { previousEmail: user.email }
    await note(queries, row, 'user.changed', { ...factsOf(change), ...before }, signature)
    return row
  }))
  return changed === 'unknown' ? undefined : changed ?? 'taken'
}

/** Sets another password of a user. Everything that was issued under the old one becomes invalid. */
export async function updatePassword (
  database: Database,
  { companyId, userId }: UserRef,
  passwordHash: string,
  signature: AuditStamp
): Promise<void> {
  await database.company(companyId, async (queries) => {
    const row = await setPassword(queries, { companyId, userId }, passwordHash, signature.at)
    await note(queries, row, 'password.changed', {}, signature)
  })
}

/** Sets a password, in a transaction of the caller, who notes it. */
export async function setPassword (
  queries: CompanyQueries,
  { companyId, userId }: UserRef,
  passwordHash: string,
  at: Date
): Promise<UserRow> {
  const user = await queries.selectFrom('users').select(readable).where('company_id', '=', companyId).where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return update(queries, user, { passwordHash }, at)
}

async function update (
  queries: CompanyQueries,
  { company_id: companyId, user_id: userId, disabled_at: disabledAt }: UserRow,
  { email, passwordHash, role, services, disabled }: UserChange,
  at: Date
): Promise<UserRow> {
  return queries.updateTable('users').set((user) => ({
    // It is set in any case: an update needs at least one column.
    disabled_at: disabled === undefined ? disabledAt : disabled ? disabledAt ?? at : null,
    ...(email === undefined ? {} : { email }),
    ...(role === undefined ? {} : { role }),
    ...(services === undefined ? {} : { services: [...services] }),
    ...(passwordHash === undefined
      ? {}
      : { password_hash: passwordHash, password_version: user('password_version', '+', 1), password_set_at: at })
  })).where('company_id', '=', companyId).where('user_id', '=', userId).returning(readable).executeTakeFirstOrThrow()
}

/** The names of the changed fields, and the values of those that are not secret. */
function factsOf ({ passwordHash, ...change }: UserChange): JsonObject {
  return { fields: [...Object.keys(change), ...(passwordHash === undefined ? [] : ['password'])], ...change }
}

function note (
  queries: CompanyQueries,
  { company_id: companyId, user_id: userId }: UserRow,
  action: string,
  facts: JsonObject,
  signature: AuditStamp
): Promise<void> {
  return noteAudit(queries, { companyId, action, object: { kind: 'user', id: String(userId) }, facts, ...signature })
}

/** Undefined where a user of the company has the e-mail address already. */
export async function unlessTaken<Result> (work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'constraint' in error && error.constraint === 'users_email_key') return undefined
    throw error
  }
}

/** Voids all tokens of a user, and their sessions but the one that is kept. */
export async function voidSessions (
  queries: CompanyQueries,
  { companyId, userId, keptSession }: UserRef & { keptSession?: string | undefined }
): Promise<void> {
  const changed = await queries.updateTable('users').set((user) => ({ password_version: user('password_version', '+', 1) }))
    .where('company_id', '=', companyId).where('user_id', '=', userId).returning('password_version').executeTakeFirstOrThrow()
  const ofUser = queries.updateTable('sessions').set(changed).where('company_id', '=', companyId).where('user_id', '=', userId)
  if (keptSession !== undefined) await ofUser.where('session_id', '=', keptSession).execute()
  await queries.deleteFrom('sessions').where('company_id', '=', companyId).where('user_id', '=', userId)
    .where('password_version', '<', changed.password_version).execute()
}
