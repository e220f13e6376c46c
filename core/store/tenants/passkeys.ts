import { type Selectable, sql } from 'kysely'
import type { PasskeyCredential } from '../../access/passkeys.ts'
import type { CompanyQueries, Database } from '../db/database.ts'
import type { Tables } from '../db/schema.ts'
import { addSeconds } from '../db/sql-timestamp.ts'
import { type AuditStamp, noteAudit } from './audit.ts'
import { endSessions, type FactorChange, writeCodes } from './second-factors.ts'
import type { UserRef } from './users.ts'

const readable = ['passkey_id', 'company_id', 'user_id', 'credential', 'public_key', 'counter', 'transports', 'name', 'created_at',
  'used_at'] as const
export type PasskeyRow = Selectable<Tables['passkeys']>

/** What a challenge is for: a new passkey of this user, or a sign-in: of this user, or (null) of anybody. */
export type ChallengeUse = { use: 'registration' | 'sign-in', userId: number | null }

/** In seconds. */
const challengeLasts = 300

/** Records a challenge; those that have expired are removed. */
export async function insertChallenge ({ owner, now }: Database, digest: Buffer, { use, userId }: ChallengeUse): Promise<void> {
  await owner.deleteFrom('passkey_challenges').where('expires_at', '<=', now).execute()
  await owner.insertInto('passkey_challenges').values({ digest, use, user_id: userId, expires_at: addSeconds(now, challengeLasts) })
    .execute()
}

/** Uses a challenge up. False where it is unknown, used, expired or for something else. */
export async function useChallenge ({ owner, now }: Database, digest: Buffer, { use, userId }: ChallengeUse): Promise<boolean> {
  const { numDeletedRows } = await owner.deleteFrom('passkey_challenges').where('digest', '=', digest).where('use', '=', use)
    .where(sql<boolean>`user_id is not distinct from ${userId}`).where('expires_at', '>', now).executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function listPasskeys (database: Database, { companyId, userId }: UserRef): Promise<PasskeyRow[]> {
  return database.company(companyId,
    (queries) =>
      queries.selectFrom('passkeys').select(readable).where('company_id', '=', companyId).where('user_id', '=', userId)
        .orderBy('passkey_id').execute())
}

/** The passkey of a credential, read as the owner, because its company is not known yet. */
export async function findPasskey ({ owner }: Database, credential: string): Promise<PasskeyRow | undefined> {
  return owner.selectFrom('passkeys').select(readable).where('credential', '=', credential).executeTakeFirst()
}

export type NewPasskey = PasskeyCredential & { passkeyId: string, name: string }

/**
 * Adds a passkey. The recovery codes count where it is the first second factor of the user. Undefined where the credential is known
 * already; `stale` when the user's ways in have ended since they were let in.
 */
export async function insertPasskey (
  database: Database,
  { passwordVersion, ...change }: FactorChange & { passwordVersion: number | undefined },
  { passkeyId, name, credential, publicKey, counter, transports, digests }: NewPasskey & { digests: readonly Buffer[] },
  signature: AuditStamp
): Promise<{ row: PasskeyRow, first: boolean } | 'stale' | undefined> {
  const { companyId, userId } = change
  return database.company(companyId, async (queries) => {
    const user = await queries.selectFrom('users').select('second_factor_at').where('company_id', '=', companyId)
      .where('user_id', '=', userId).where('password_version', '=', passwordVersion ?? -1).forNoKeyUpdate().executeTakeFirst()
    if (user === undefined) return 'stale'
    const { second_factor_at: since } = user
    const row = await queries.insertInto('passkeys').values({
      passkey_id: passkeyId,
      company_id: companyId,
      user_id: userId,
      credential,
      public_key: publicKey,
      counter: String(counter),
      transports: [...transports],
      name,
      created_at: signature.at
    }).onConflict((conflict) => conflict.column('credential').doNothing()).returning(readable).executeTakeFirst()
    if (row === undefined) return undefined
    if (since === null) await writeCodes(queries, change, digests)
    await endSessions(queries, change, since ?? signature.at)
    await note(queries, change, { action: 'passkey.added', passkeyId, name }, signature)
    return { row, first: since === null }
  })
}

/** Undefined where the user has no such passkey. */
export async function renamePasskey (
  database: Database,
  ref: UserRef,
  { passkeyId, name }: { passkeyId: string, name: string },
  signature: AuditStamp
): Promise<PasskeyRow | undefined> {
  const { companyId, userId } = ref
  return database.company(companyId, async (queries) => {
    const row = await queries.updateTable('passkeys').set({ name }).where('company_id', '=', companyId).where('user_id', '=', userId)
      .where('passkey_id', '=', passkeyId).returning(readable).executeTakeFirst()
    if (row !== undefined) await note(queries, ref, { action: 'passkey.renamed', passkeyId, name }, signature)
    return row
  })
}

/** Removes a passkey; with the last factor of the user the recovery codes go too. False where the user has no such passkey. */
export async function deletePasskey (
  database: Database,
  change: FactorChange,
  passkeyId: string,
  signature: AuditStamp
): Promise<boolean> {
  const { companyId, userId } = change
  return database.company(companyId, async (queries) => {
    const { second_factor_at: since } = await queries.selectFrom('users').select('second_factor_at').where('company_id', '=', companyId)
      .where('user_id', '=', userId).forNoKeyUpdate().executeTakeFirstOrThrow()
    const gone = await queries.deleteFrom('passkeys').where('company_id', '=', companyId).where('user_id', '=', userId)
      .where('passkey_id', '=', passkeyId).returning('name').executeTakeFirst()
    if (gone === undefined) return false
    const rest = await hasFactor(queries, change)
    if (!rest) await queries.deleteFrom('recovery_codes').where('company_id', '=', companyId).where('user_id', '=', userId).execute()
    await endSessions(queries, change, rest ? since : null)
    await note(queries, change, { action: 'passkey.removed', passkeyId, name: gone.name }, signature)
    return true
  })
}

async function hasFactor (queries: CompanyQueries, { companyId, userId }: UserRef): Promise<boolean> {
  const app = await queries.selectFrom('authenticators').select('user_id').where('company_id', '=', companyId)
    .where('user_id', '=', userId).where('confirmed_at', 'is not', null).executeTakeFirst()
  const passkey = await queries.selectFrom('passkeys').select('passkey_id').where('company_id', '=', companyId)
    .where('user_id', '=', userId).executeTakeFirst()
  return app !== undefined || passkey !== undefined
}

/** Notes a sign-in. False where the count has not grown since: another passkey says that it is this one. Devices without a count say 0. */
export async function notePasskeyUse (
  database: Database,
  { company_id: companyId, passkey_id: passkeyId }: PasskeyRow,
  counter: number
): Promise<boolean> {
  const { numUpdatedRows } = await database.company(companyId,
    (queries) =>
      queries.updateTable('passkeys').set({ counter: String(counter), used_at: database.now }).where('company_id', '=', companyId)
        .where('passkey_id', '=', passkeyId).where(sql<boolean>`(counter < ${counter} or (counter = 0 and ${counter} = 0))`)
        .executeTakeFirstOrThrow())
  return numUpdatedRows === 1n
}

function note (
  queries: CompanyQueries,
  { companyId }: UserRef,
  { action, passkeyId, name }: { action: string, passkeyId: string, name: string },
  signature: AuditStamp
): Promise<void> {
  return noteAudit(queries, { companyId, action, object: { kind: 'passkey', id: passkeyId }, facts: { name }, ...signature })
}
