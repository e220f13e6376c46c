import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { Envelope } from '@dispatch/common'
import type { Database, OwnerQueries } from '@dispatch/database'
import { type Selectable, sql } from 'kysely'
import { columns, type Tables } from './tables.ts'

/** A stored secret: sealed, and with its creator (null: the service itself). */
export type NewCallbackSecretRow = { secretId: string, userId: number | null, impersonatorId: number | null, sealed: Envelope }

export type CallbackSecretRow = Selectable<Tables['callback_secrets']>

/** The secrets with which a company's callbacks are signed now, the newest first. */
export async function readCallbackSecrets (database: Database, companyId: number, now: Date): Promise<CallbackSecretRow[]> {
  return database.company(companyId,
    (queries) =>
      queries.selectFrom('callback_secrets').select(columns.callback_secrets).where('company_id', '=', companyId)
        .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
        .orderBy('expires_at', (order) => order.desc().nullsFirst()).execute())
}

/** Stores a secret, unless the company has a current one. */
export async function addFirstCallbackSecret (
  database: Database,
  companyId: number,
  secret: NewCallbackSecretRow,
  now: Date
): Promise<void> {
  await database.company(companyId,
    (queries) =>
      queries.insertInto('callback_secrets').values(rowOf(companyId, secret, now)).onConflict((conflict) => conflict.doNothing()).execute())
}

/** Makes a secret the current one. The previous one signs until `previousUntil`. Answers whether there was one. */
export async function rotateCallbackSecret (
  database: Database,
  companyId: number,
  secret: NewCallbackSecretRow,
  { previousUntil, ...signature }: AuditStamp & { previousUntil: Date }
): Promise<boolean> {
  const { at: now } = signature
  return database.company(companyId, async (queries) => {
    await lock(queries, companyId)
    await queries.deleteFrom('callback_secrets').where('company_id', '=', companyId).where('expires_at', '<=', now).execute()
    const previous = await queries.updateTable('callback_secrets').set({ expires_at: previousUntil })
      .where('company_id', '=', companyId).where('expires_at', 'is', null).returning('secret_id').executeTakeFirst()
    await queries.insertInto('callback_secrets').values(rowOf(companyId, secret, now)).execute()
    await noteAudit(queries, {
      companyId,
      action: 'callback-secret.rotated',
      object: { kind: 'callback-secret', id: secret.secretId },
      ...signature
    })
    return previous !== undefined
  })
}

/** The lock puts two rotations in a row, so that the second one finds the secret of the first. */
async function lock (queries: OwnerQueries, companyId: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('callback secret', ${companyId}))`.execute(queries)
}

function rowOf (companyId: number, { secretId, userId, impersonatorId, sealed }: NewCallbackSecretRow, now: Date) {
  return {
    secret_id: secretId,
    company_id: companyId,
    user_id: userId,
    impersonator_id: impersonatorId,
    sealed: JSON.stringify(sealed),
    created_at: now,
    expires_at: null
  }
}
