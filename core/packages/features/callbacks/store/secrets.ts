import { type AuditAuthor, noteAudit } from '@dispatch/accounts'
import type { CompanyQueries, Database } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import { type EndpointRef, note } from './endpoints.ts'
import type { SigningSecret } from './tables.ts'

/** Whose secrets sign: those of a company, or those of one of its endpoints. */
export type Signer = { companyId: number, endpointId: string | null }

/** The secrets with which a company's callbacks to addresses are signed, the newest first, as a value of a statement. */
export function secretsOfCompany (companyId: number): RawBuilder<readonly SigningSecret[]> {
  return sql`(select coalesce(jsonb_agg(
      jsonb_build_object('id', secret_id, 'sealed', sealed, 'createdAt', created_at, 'expiresAt', expires_at)
      order by expires_at desc nulls first), '[]')
    from callback_secrets where company_id = ${companyId})`
}

/** The secrets of a company, the newest first; some may have expired. */
export async function readSecrets (database: Database, companyId: number): Promise<readonly SigningSecret[]> {
  return database.company(companyId, async (queries) => {
    const { rows: [found] } = await sql<{ secrets: SigningSecret[] }>`select ${secretsOfCompany(companyId)} as secrets`.execute(queries)
    return found?.secrets ?? []
  })
}

/** Stores a secret, unless the company has a current one. */
export async function addFirstSecret (database: Database, companyId: number, secret: SigningSecret): Promise<void> {
  await database.company(companyId,
    (queries) =>
      queries.insertInto('callback_secrets').values(rowOf(companyId, secret, null)).onConflict((conflict) => conflict.doNothing())
        .execute())
}

/** A secret that replaces the current one, which signs until `until`, as do the others until their ends. `max`: how many may sign. */
export type Rotation = { secret: SigningSecret, author: AuditAuthor, at: Date, until: Date, max: number }

/** Makes a secret the current one. Answers whether there was one; undefined where the company has no such endpoint. */
export async function rotateSecret (database: Database, signer: Signer, rotation: Rotation): Promise<boolean | undefined> {
  const { companyId, endpointId } = signer
  return database.company(companyId, (queries) =>
    endpointId === null
      ? rotateOfCompany(queries, companyId, rotation)
      : rotateOfEndpoint(queries, { companyId, endpointId }, rotation))
}

async function rotateOfCompany (queries: CompanyQueries, companyId: number, { secret, author, at, until }: Rotation): Promise<boolean> {
  // The lock puts two rotations in a row, so that the second one finds the secret of the first.
  await sql`select pg_advisory_xact_lock(hashtextextended('callback secret', ${companyId}))`.execute(queries)
  await queries.deleteFrom('callback_secrets').where('company_id', '=', companyId).where('expires_at', '<=', at).execute()
  const previous = await queries.updateTable('callback_secrets').set({ expires_at: until })
    .where('company_id', '=', companyId).where('expires_at', 'is', null).returning('secret_id').executeTakeFirst()
  await queries.insertInto('callback_secrets').values(rowOf(companyId, secret, author)).execute()
  const object = { kind: 'callback-secret', id: secret.id }
  await noteAudit(queries, { companyId, action: 'callback-secret.rotated', object, author, at })
  return previous !== undefined
}

async function rotateOfEndpoint (
  queries: CompanyQueries,
  { companyId, endpointId }: EndpointRef,
  { secret, author, at, until, max }: Rotation
): Promise<boolean | undefined> {
  const present = await queries.selectFrom('callback_endpoints').select('secrets').where('company_id', '=', companyId)
    .where('endpoint_id', '=', endpointId).where('removed_at', 'is', null).forUpdate().executeTakeFirst()
  if (present === undefined) return undefined
  const others = validAt(present.secrets, at).map((other) => ({ ...other, expiresAt: other.expiresAt ?? until.toISOString() }))
  await queries.updateTable('callback_endpoints').set({ secrets: JSON.stringify([secret, ...others].slice(0, max)) })
    .where('company_id', '=', companyId).where('endpoint_id', '=', endpointId).execute()
  await note(queries, { company_id: companyId, endpoint_id: endpointId }, 'secret-rotated', {}, { author, at })
  return others.length > 0
}

/** The secrets among these that sign at a time. */
export function validAt (secrets: readonly SigningSecret[], at: Date): SigningSecret[] {
  return secrets.filter(({ expiresAt }) => expiresAt === null || new Date(expiresAt) > at)
}

function rowOf (companyId: number, { id, sealed, createdAt, expiresAt }: SigningSecret, author: AuditAuthor | null) {
  return {
    secret_id: id,
    company_id: companyId,
    user_id: author?.userId ?? null,
    impersonator_id: author?.impersonatorId ?? null,
    sealed: JSON.stringify(sealed),
    created_at: createdAt,
    expires_at: expiresAt
  }
}
