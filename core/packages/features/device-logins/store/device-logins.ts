import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import { addSeconds, type Database } from '@dispatch/database'
import { type ColumnType, type Selectable, sql } from 'kysely'
import type { DeviceGrantBody } from '../contract/device-logins.ts'

/** The rights that a person has granted to a device. */
export type GrantedKey = Omit<DeviceGrantBody, 'userCode'>

type Tables = {
  device_logins: {
    login_id: string
    digest: Buffer
    user_code: string
    client: string
    scopes: string[]
    address: string
    interval_seconds: number
    asked_at: Date | null
    created_at: Date
    expires_at: Date
    decision: 'granted' | 'declined' | null
    user_id: number | null
    password_version: number | null
    key: ColumnType<GrantedKey | null, string | null, string | null>
  }
}

const readable = ['client', 'scopes', 'address', 'created_at', 'expires_at'] as const
type WaitingLogin = Pick<Selectable<Tables['device_logins']>, typeof readable[number]>

type NewLogin = { loginId: string, digest: Buffer, userCode: string, client: string, scopes: string[], address: string }

/** Records a login, and removes those that have expired. False where another one has the code. */
export async function insertLogin (
  { owner, now }: Database,
  { loginId, digest, userCode, client, scopes, address }: NewLogin,
  { lifetime, interval }: { lifetime: number, interval: number }
): Promise<boolean> {
  await owner.$extendTables<Tables>().deleteFrom('device_logins').where('expires_at', '<=', now).execute()
  const { numInsertedOrUpdatedRows } = await owner.$extendTables<Tables>().insertInto('device_logins').values({
    login_id: loginId,
    digest,
    user_code: userCode,
    client,
    scopes,
    address,
    interval_seconds: interval,
    created_at: now,
    expires_at: addSeconds(now, lifetime)
  }).onConflict((conflict) => conflict.column('user_code').doNothing()).executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** The login with this code that waits for a person. */
export async function findWaiting ({ owner, now }: Database, userCode: string): Promise<WaitingLogin | undefined> {
  return owner.$extendTables<Tables>().selectFrom('device_logins').select(readable).where('user_code', '=', userCode)
    .where('decision', 'is', null).where('expires_at', '>', now).executeTakeFirst()
}

/** Who decides, and what they grant; without a key they decline. */
export type Decision = { userId: number, companyId: number, passwordVersion: number | null, key: GrantedKey | null }

/** Notes what a person has decided. False where somebody has decided before, or the code has expired. */
export async function decide (
  { owner, now }: Database,
  userCode: string,
  { userId, companyId, passwordVersion, key }: Decision,
  stamp: AuditStamp
): Promise<boolean> {
  const decision = key === null ? 'declined' : 'granted'
  return owner.transaction().execute(async (queries) => {
    const login = await queries.$extendTables<Tables>().updateTable('device_logins')
      .set({ decision, user_id: userId, password_version: passwordVersion, key: key && JSON.stringify(key) })
      .where('user_code', '=', userCode).where('decision', 'is', null).where('expires_at', '>', now)
      .returning(['login_id', 'client', 'address']).executeTakeFirst()
    if (login === undefined) return false
    await noteAudit(queries, {
      companyId,
      action: `device-login.${decision}`,
      object: { kind: 'device-login', id: login.login_id },
      facts: { client: login.client, device: login.address, ...key && { key: key.name } },
      ...stamp
    })
    return true
  })
}

/** What a device is told that asks for its key. That it was declined is told once; a grant is until it is forgotten. */
export type Reported =
  | { state: 'expired' | 'slow' | 'waiting' | 'declined' }
  | { state: 'granted', loginId: string, userId: number, passwordVersion: number, key: GrantedKey }

/**
 * Notes a question of a device. One that comes too early makes the interval five seconds longer (RFC 8628, 3.5): so two questions at once
 * do not both get the key that was granted.
 */
export async function ask ({ owner, now }: Database, digest: Buffer): Promise<Reported> {
  return owner.transaction().execute(async (queries) => {
    const own = queries.$extendTables<Tables>()
    const login = await own.selectFrom('device_logins').select(['login_id', 'decision', 'user_id', 'password_version', 'key'])
      .select(sql<boolean>`coalesce(asked_at + make_interval(secs => interval_seconds) > ${now}, false)`.as('early'))
      .where('digest', '=', digest).where('expires_at', '>', now).forUpdate().executeTakeFirst()
    if (login === undefined) return { state: 'expired' }
    const { login_id: loginId, decision, user_id: userId, password_version: passwordVersion, key, early } = login
    if (early || decision === null) {
      await own.updateTable('device_logins').set({ asked_at: now })
        .$if(early, (query) => query.set(({ eb }) => ({ interval_seconds: eb('interval_seconds', '+', 5) })))
        .where('login_id', '=', loginId).execute()
      return { state: early ? 'slow' : 'waiting' }
    }
    if (userId === null || passwordVersion === null || key === null) {
      await own.deleteFrom('device_logins').where('login_id', '=', loginId).execute()
      return { state: 'declined' }
    }
    await own.updateTable('device_logins').set({ asked_at: now }).where('login_id', '=', loginId).execute()
    return { state: 'granted', loginId, userId, passwordVersion, key }
  })
}

/** Removes a login whose key was made, or never will be. */
export async function forgetLogin ({ owner }: Database, loginId: string): Promise<void> {
  await owner.$extendTables<Tables>().deleteFrom('device_logins').where('login_id', '=', loginId).execute()
}
