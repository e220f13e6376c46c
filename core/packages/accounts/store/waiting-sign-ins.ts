import { addSeconds, type Database } from '@dispatch/database'
import type { Account } from '../access/account.ts'

/** In seconds. */
const lasts = 300

/** A sign-in whose password was right, and which waits for the second factor. */
export type WaitingSignIn = Pick<Account, 'userId' | 'passwordVersion'>

/** Records a sign-in that waits; those that have waited too long are removed. Read and written as the owner: it is nobody's session yet. */
export async function insertWaiting (database: Database, digest: Buffer, { userId, passwordVersion }: WaitingSignIn): Promise<void> {
  const { owner, now } = database
  await owner.deleteFrom('waiting_sign_ins').where('expires_at', '<=', now).execute()
  await owner.insertInto('waiting_sign_ins').values({
    digest,
    user_id: userId,
    password_version: passwordVersion,
    expires_at: addSeconds(now, lasts)
  }).execute()
}

export async function findWaiting ({ owner, now }: Database, digest: Buffer): Promise<WaitingSignIn | undefined> {
  const row = await owner.selectFrom('waiting_sign_ins').select(['user_id', 'password_version']).where('digest', '=', digest)
    .where('expires_at', '>', now).executeTakeFirst()
  return row && { userId: row.user_id, passwordVersion: row.password_version }
}

/** Ends the wait. False where another request has ended it. */
export async function deleteWaiting ({ owner }: Database, digest: Buffer): Promise<boolean> {
  const { numDeletedRows } = await owner.deleteFrom('waiting_sign_ins').where('digest', '=', digest).executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}
