import { addFactor, type AuditStamp, type FactorChange, type FactorStore, noteAudit, removeFactor, type UserRef } from '@dispatch/accounts'
import { addSeconds, type CompanyQueries, type Database } from '@dispatch/database'
import { type Selectable, sql } from 'kysely'

/** A passkey as it is checked: the base64url id of its credential, its public key, how often it says that it was used. */
export type PasskeyCredential = { credential: string, publicKey: Buffer, counter: number, transports: readonly string[] }

type Tables = {
  passkeys: {
    passkey_id: string
    company_id: number
    user_id: number
    credential: string
    public_key: Buffer
    counter: string
    transports: string[]
    name: string
    created_at: Date
    used_at: Date | null
  }
  passkey_challenges: { digest: Buffer, use: ChallengeUse['use'], user_id: number | null, expires_at: Date }
}

const readable = ['passkey_id', 'company_id', 'user_id', 'credential', 'public_key', 'counter', 'transports', 'name', 'created_at',
  'used_at'] as const
export type PasskeyRow = Selectable<Tables['passkeys']>

/** What a challenge is for: a new passkey of this user, or a sign-in: of this user, or (null) of anybody. */
export type ChallengeUse = { use: 'registration' | 'sign-in', userId: number | null }

/** In seconds. */
const challengeLasts = 300

/** Records a challenge; those that have expired are removed. */
export async function insertChallenge ({ owner, now }: Database, digest: Buffer, { use, userId }: ChallengeUse): Promise<void> {
  await owner.$extendTables<Tables>().deleteFrom('passkey_challenges').where('expires_at', '<=', now).execute()
  await owner.$extendTables<Tables>().insertInto('passkey_challenges').values({
    digest,
    use,
    user_id: userId,
    expires_at: addSeconds(now, challengeLasts)
  })
    .execute()
}

/** Uses a challenge up. False where it is unknown, used, expired or for something else. */
export async function useChallenge ({ owner, now }: Database, digest: Buffer, { use, userId }: ChallengeUse): Promise<boolean> {
  const { numDeletedRows } = await owner.$extendTables<Tables>().deleteFrom('passkey_challenges').where('digest', '=', digest).where('use',
    '=', use)
    .where(sql<boolean>`user_id is not distinct from ${userId}`).where('expires_at', '>', now).executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function listPasskeys (database: Database, { companyId, userId }: UserRef): Promise<PasskeyRow[]> {
  return database.company(companyId,
    (queries) =>
      queries.$extendTables<Tables>().selectFrom('passkeys').select(readable).where('company_id', '=', companyId).where('user_id', '=',
        userId)
        .orderBy('passkey_id').execute())
}

/** The passkey of a credential, read as the owner, because its company is not known yet. */
export async function findPasskey ({ owner }: Database, credential: string): Promise<PasskeyRow | undefined> {
  return owner.$extendTables<Tables>().selectFrom('passkeys').select(readable).where('credential', '=', credential).executeTakeFirst()
}

export type NewPasskey = PasskeyCredential & { passkeyId: string, name: string }

/** Adds a passkey, as {@link addFactor} adds a factor. Undefined where the credential is known already. */
export async function insertPasskey (
  database: Database,
  change: FactorChange & { passwordVersion: number | undefined },
  { passkeyId, name, credential, publicKey, counter, transports, digests }: NewPasskey & { digests: readonly Buffer[] },
  signature: AuditStamp
): Promise<{ row: PasskeyRow, first: boolean } | 'stale' | undefined> {
  const { companyId, userId } = change
  const add = async (queries: CompanyQueries): Promise<PasskeyRow | undefined> => {
    const row = await queries.$extendTables<Tables>().insertInto('passkeys').values({
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
    if (row !== undefined) await note(queries, change, { action: 'passkey.added', passkeyId, name }, signature)
    return row
  }
  return addFactor(database, change, { digests, add }, signature.at)
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
    const row = await queries.$extendTables<Tables>().updateTable('passkeys').set({ name }).where('company_id', '=', companyId).where(
      'user_id',
      '=',
      userId
    )
      .where('passkey_id', '=', passkeyId).returning(readable).executeTakeFirst()
    if (row !== undefined) await note(queries, ref, { action: 'passkey.renamed', passkeyId, name }, signature)
    return row
  })
}

/** Removes a passkey, as {@link removeFactor} removes a factor. False where the user has no such passkey. */
export async function deletePasskey (
  database: Database,
  factors: readonly FactorStore[],
  change: FactorChange,
  { passkeyId, ...signature }: AuditStamp & { passkeyId: string }
): Promise<boolean> {
  const { companyId, userId } = change
  return removeFactor(database, factors, change, async (queries) => {
    const gone = await queries.$extendTables<Tables>().deleteFrom('passkeys').where('company_id', '=', companyId)
      .where('user_id', '=', userId).where('passkey_id', '=', passkeyId).returning('name').executeTakeFirst()
    if (gone !== undefined) await note(queries, change, { action: 'passkey.removed', passkeyId, name: gone.name }, signature)
    return gone !== undefined
  })
}

/** What users have of passkeys, as a kind of verification. */
export const passkeyFactors: Omit<FactorStore, 'kind'> = {
  async count (queries, { companyId, userId }) {
    const { passkeys } = await queries.$extendTables<Tables>().selectFrom('passkeys')
      .select(({ fn }) => fn.countAll<string>().as('passkeys')).where('company_id', '=', companyId).where('user_id', '=', userId)
      .executeTakeFirstOrThrow()
    return Number(passkeys)
  },
  async remove (queries, { companyId, userId }) {
    await queries.$extendTables<Tables>().deleteFrom('passkeys').where('company_id', '=', companyId).where('user_id', '=', userId).execute()
  }
}

/** Notes a sign-in. False where the count has not grown since: another passkey says that it is this one. Devices without a count say 0. */
export async function notePasskeyUse (
  database: Database,
  { company_id: companyId, passkey_id: passkeyId }: PasskeyRow,
  counter: number
): Promise<boolean> {
  const { numUpdatedRows } = await database.company(companyId,
    (queries) =>
      queries.$extendTables<Tables>().updateTable('passkeys').set({ counter: String(counter), used_at: database.now }).where('company_id',
        '=', companyId)
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

/** A passkey of a user of the company, for the tests of the walls between companies. */
export async function fillPasskeys (queries: Database['owner'], companyId: number): Promise<void> {
  const { user_id: userId } = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  await sql`insert into passkeys (passkey_id, company_id, user_id, credential, public_key, counter, transports, name, created_at)
    values (gen_random_uuid(), ${companyId}, ${userId}, ${`of ${companyId}`}, '', 0, '{}', 'a passkey', now())`.execute(queries)
}
