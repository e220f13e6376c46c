import type { KeyMode, KeyScope, Role } from '@dispatch/contract'
import { type CompanyQueries, createFreshCache, type Database, type Freshness } from '@dispatch/database'
import type { Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'
import { hash } from 'node:crypto'
import { type AuditAuthor, noteAudit } from '../audit/audit.ts'

/** A valid key. `services` undefined: all services of its user. */
export type ApiKey = {
  keyId: string
  companyId: number
  userId: number
  mode: KeyMode
  scopes: readonly KeyScope[]
  services?: readonly string[]
  expiresAt?: Date
}

/** Finds keys. */
export type ApiKeys = {
  /** Finds a key by its digest; undefined where it is unknown or revoked. */
  find: (digest: Buffer) => Promise<ApiKey | undefined>
  /** Records the use of a key, at most once a minute. No request waits for it. */
  noteUse: (keyId: string) => void
}

/** By how many milliseconds the recorded last use may be late. */
const lag = 60_000

/** Reads keys. Every look-up first learns of all changes that were committed before it. */
export function createApiKeys (
  database: Database,
  freshness: Freshness,
  { now, onError }: { now: () => Date, onError: (error: unknown) => void }
): ApiKeys {
  const byDigest = createFreshCache<string, ApiKey | undefined>(freshness, (_, key) => key?.companyId ?? 0)
  const noted = new Map<string, number>()
  return {
    async find (digest) {
      await freshness.check()
      return byDigest.get(digest.toString('base64'), () => findKey(database, digest))
    },
    noteUse (keyId) {
      const time = now()
      if (time.getTime() - (noted.get(keyId) ?? 0) < lag) return
      noted.set(keyId, time.getTime())
      noteUse(database, keyId, time).catch(onError)
    }
  }
}

/**
 * What is stored of a key that has scopes. A release before scopes looks for the digest itself, so that it refuses the key, and does not
 * let it do all that its user may.
 */
function scopedDigest (digest: Buffer): Buffer {
  return hash('sha256', digest, 'buffer')
}

/** It reads as the owner, because the company of a key is not known yet. */
async function findKey ({ owner }: Database, digest: Buffer): Promise<ApiKey | undefined> {
  const row = await owner.selectFrom('api_keys').select(['key_id', 'company_id', 'user_id', 'mode', 'scopes', 'services', 'expires_at'])
    .where('digest', 'in', [digest, scopedDigest(digest)]).where('revoked_at', 'is', null).executeTakeFirst()
  return row && {
    keyId: row.key_id,
    companyId: row.company_id,
    userId: row.user_id,
    mode: row.mode,
    scopes: row.scopes,
    ...row.services === null ? {} : { services: row.services },
    ...row.expires_at === null ? {} : { expiresAt: row.expires_at }
  }
}

/** Other processes may have recorded a use meanwhile. */
async function noteUse ({ owner }: Database, keyId: string, time: Date): Promise<void> {
  await owner.updateTable('api_keys').set({ last_used_at: time }).where('key_id', '=', keyId)
    .where((key) => key.or([key('last_used_at', 'is', null), key('last_used_at', '<=', new Date(time.getTime() - lag))])).execute()
}

/** A key to record. */
export type NewApiKey = ApiKey & { name: string, digest: Buffer, beginning: string, ending: string }

/** A key in a list. */
export type ApiKeyRow = Omit<Selectable<Tables['api_keys']>, 'digest' | 'revoked_at'>

const listed = ['key_id', 'company_id', 'user_id', 'name', 'mode', 'scopes', 'services', 'beginning', 'ending', 'created_at', 'expires_at',
  'last_used_at'] as const

/** Whoever makes something, as they were let in. */
export type Maker = { userId: number, passwordVersion?: number | undefined }

/**
 * Records a key. `full` when the user has as many as `max` already; `stale` when the maker's ways in have ended since they were let in: of
 * the two that come at once, a reset waits for the key and revokes it, or the key is not made.
 */
export async function insertApiKey (
  database: Database,
  key: NewApiKey,
  { maker, author, max, at }: { maker: Maker, author: AuditAuthor, max: number, at: Date }
): Promise<ApiKeyRow | 'full' | 'stale'> {
  const { keyId, companyId, userId, name, mode, scopes, services } = key
  return database.company(companyId, async (queries) => {
    const isLetIn = await queries.selectFrom('users').select('user_id').where('company_id', '=', companyId)
      .where('user_id', '=', maker.userId).where('password_version', '=', maker.passwordVersion ?? -1).forShare().executeTakeFirst()
    if (isLetIn === undefined) return 'stale'
    // The lock puts the new keys of a user in a row, so that their number stays within the limit.
    await sql`select pg_advisory_xact_lock(hashtext('api_keys'), ${userId})`.execute(queries)
    const { count } = await queries.selectFrom('api_keys').select((keys) => keys.fn.countAll<string>().as('count'))
      .where('company_id', '=', companyId).where('user_id', '=', userId).where('revoked_at', 'is', null).executeTakeFirstOrThrow()
    if (Number(count) >= max) return 'full'
    const row = await queries.insertInto('api_keys').values({
      key_id: keyId,
      company_id: companyId,
      user_id: userId,
      name,
      mode,
      scopes: [...scopes],
      services: services === undefined ? null : [...services],
      digest: scopedDigest(key.digest),
      beginning: key.beginning,
      ending: key.ending,
      created_at: at,
      expires_at: key.expiresAt ?? null
    }).returning(listed).executeTakeFirstOrThrow()
    await noteAudit(queries, {
      companyId,
      author,
      action: 'key.created',
      object: { kind: 'key', id: keyId },
      facts: { userId, name, mode, scopes: [...scopes] },
      at
    })
    return row
  })
}

/** Whose keys: those of all users of a company, of one user, or of users with one of the roles. */
export type ApiKeyFilter = { companyId: number, userId?: number, roles?: readonly Role[] }

/** A page of the keys that are not revoked, the newest first. Ids grow with time, so the last id is the cursor. */
export async function listApiKeys (
  database: Database,
  holders: ApiKeyFilter,
  page: { limit: number, after?: string, mode?: ApiKeyRow['mode'] }
): Promise<ApiKeyRow[]> {
  const { companyId } = holders
  return database.company(companyId, (queries) =>
    queries.selectFrom('api_keys')
      .select(listed)
      .where('company_id', '=', companyId).where('user_id', 'in', idsOf(queries, holders)).where('revoked_at', 'is', null)
      .$if(page.mode !== undefined, (query) => query.where('mode', '=', page.mode ?? 'live'))
      .$if(page.after !== undefined, (query) => query.where('key_id', '<', page.after ?? ''))
      .orderBy('key_id', 'desc').limit(page.limit).execute())
}

/** Revokes a key of one of these users. Answers false where there is no such key. */
export async function revokeApiKey (
  database: Database,
  holders: ApiKeyFilter,
  keyId: string,
  { author, at }: { author: AuditAuthor, at: Date }
): Promise<boolean> {
  const { companyId } = holders
  return database.company(companyId, async (queries) => {
    const revoked = await queries.updateTable('api_keys').set({ revoked_at: at })
      .where('company_id', '=', companyId).where('user_id', 'in', idsOf(queries, holders)).where('key_id', '=', keyId).where('revoked_at',
        'is', null)
      .returning('user_id').executeTakeFirst()
    if (revoked === undefined) return false
    await noteAudit(queries, {
      companyId,
      author,
      action: 'key.revoked',
      object: { kind: 'key', id: keyId },
      facts: { userId: revoked.user_id },
      at
    })
    return true
  })
}

function idsOf (queries: CompanyQueries, { companyId, userId, roles }: ApiKeyFilter) {
  return queries.selectFrom('users').select('user_id').where('company_id', '=', companyId)
    .$if(roles !== undefined, (query) => query.where('role', 'in', roles ?? []))
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
}

/** Whether an API key still lets in. */
export async function isKeyValid (database: Database, companyId: number, keyId: string): Promise<boolean> {
  const row = await database.company(companyId,
    (queries) =>
      queries.selectFrom('api_keys').select('key_id').where('company_id', '=', companyId).where('key_id', '=', keyId)
        .where('revoked_at', 'is', null).where((where) =>
          where.or([where('expires_at', 'is', null), where('expires_at', '>', database.now)])
        )
        .executeTakeFirst())
  return row !== undefined
}
