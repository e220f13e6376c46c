import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { CompanyQueries, Database } from '@dispatch/database'
import { type Selectable, sql } from 'kysely'
import { columns, type SigningSecret, type Tables } from './tables.ts'

/** An endpoint of a company that is not removed. */
export type EndpointRow = Selectable<Tables['callback_endpoints']>

/** The settings of an endpoint. `types` null: all. */
export type EndpointChoice = Pick<EndpointRow, 'name' | 'url' | 'types' | 'enabled'>

/** What may be changed of one. `paused_until` null: it goes on. */
export type EndpointChange = Partial<EndpointChoice & Pick<EndpointRow, 'paused_until'>>

/** The endpoints of a company, the oldest first. */
export async function listEndpoints (database: Database, companyId: number): Promise<EndpointRow[]> {
  return database.company(companyId, (queries) => kept(queries, companyId).orderBy('endpoint_id').execute())
}

/** One endpoint of a company. */
export async function findEndpoint (database: Database, companyId: number, endpointId: string): Promise<EndpointRow | undefined> {
  return database.company(companyId, (queries) => kept(queries, companyId).where('endpoint_id', '=', endpointId).executeTakeFirst())
}

/** Records an endpoint. Undefined where the company has as many as `max` already. */
export async function insertEndpoint (
  database: Database,
  companyId: number,
  endpoint: EndpointChoice & { endpointId: string, secret: SigningSecret },
  { max, ...signature }: AuditStamp & { max: number }
): Promise<EndpointRow | undefined> {
  const { endpointId, name, url, types, enabled, secret } = endpoint
  return database.company(companyId, async (queries) => {
    // The lock puts the new endpoints of a company in a row, so that their number stays within the limit.
    await sql`select pg_advisory_xact_lock(hashtextextended('callback endpoints', ${companyId}))`.execute(queries)
    if ((await kept(queries, companyId).execute()).length >= max) return undefined
    const row = await queries.insertInto('callback_endpoints').values({
      endpoint_id: endpointId,
      company_id: companyId,
      name,
      url,
      types,
      enabled,
      secrets: JSON.stringify([secret]),
      created_at: signature.at
    }).returning(columns.callback_endpoints).executeTakeFirstOrThrow()
    await note(queries, row, 'created', { name, receiver: new URL(url).host }, signature)
    return row
  })
}

/**
 * Changes an endpoint. One that is not enabled gets nothing: what waits for it is stopped. What waits for one that is paused is due at the
 * end of the pause. Undefined where the company has no such one.
 */
export async function changeEndpoint (
  database: Database,
  { companyId, endpointId }: EndpointRef,
  changes: EndpointChange,
  signature: AuditStamp
): Promise<EndpointRow | undefined> {
  return database.company(companyId, async (queries) => {
    const present = await locked(queries, { companyId, endpointId })
    if (present === undefined) return undefined
    const changed = await update(queries, present, changes)
    if (!changed.enabled) await stopWaiting(queries, present)
    else if (changes.paused_until !== undefined) await moveWaiting(queries, present, changed, signature.at)
    await note(queries, present, 'changed', { fields: Object.keys(changes) }, signature)
    return changed
  })
}

/** Removes an endpoint with its secrets; its callbacks stay, and those that wait are stopped. Answers whether there was one. */
export async function removeEndpoint (
  database: Database,
  { companyId, endpointId }: EndpointRef,
  signature: AuditStamp
): Promise<boolean> {
  return database.company(companyId, async (queries) => {
    const present = await locked(queries, { companyId, endpointId })
    if (present === undefined) return false
    await update(queries, present, { enabled: false, secrets: '[]', removed_at: signature.at })
    await stopWaiting(queries, present)
    await note(queries, present, 'removed', { name: present.name }, signature)
    return true
  })
}

/** Notes in the audit log that a test event was sent. */
export async function noteEndpointTest (database: Database, endpoint: EndpointRow, signature: AuditStamp): Promise<void> {
  await database.company(endpoint.company_id, (queries) => note(queries, endpoint, 'tested', {}, signature))
}

/** Notes what was done with an endpoint, in the transaction that does it. */
export function note (
  queries: CompanyQueries,
  { company_id: companyId, endpoint_id: id }: Pick<EndpointRow, 'company_id' | 'endpoint_id'>,
  done: 'created' | 'changed' | 'removed' | 'secret-rotated' | 'tested' | 'resent' | 'failing' | 'disabled',
  facts: Required<Parameters<typeof noteAudit>[1]>['facts'],
  signature: AuditStamp
): Promise<void> {
  const object = { kind: 'callback-endpoint', id }
  return noteAudit(queries, { companyId, action: `callback-endpoint.${done}`, object, facts, ...signature })
}

/** An endpoint and its company. */
export type EndpointRef = { companyId: number, endpointId: string }

function kept (queries: CompanyQueries, companyId: number) {
  return queries.selectFrom('callback_endpoints').select(columns.callback_endpoints).where('company_id', '=', companyId)
    .where('removed_at', 'is', null)
}

async function locked (queries: CompanyQueries, { companyId, endpointId }: EndpointRef): Promise<EndpointRow | undefined> {
  return kept(queries, companyId).where('endpoint_id', '=', endpointId).forUpdate().executeTakeFirst()
}

async function update (
  queries: CompanyQueries,
  { company_id: companyId, endpoint_id: endpointId, ...present }: EndpointRow,
  changes: EndpointChange & { secrets?: string, removed_at?: Date }
): Promise<EndpointRow> {
  const { name, url, types, enabled } = present
  // One that is enabled again has a new beginning.
  const begins = changes.enabled === true && !enabled ? { failing_since: null, warned_at: null, disabled_at: null } : {}
  return queries.updateTable('callback_endpoints').set({ name, url, types, enabled, ...changes, ...begins })
    .where('company_id', '=', companyId).where('endpoint_id', '=', endpointId).returning(columns.callback_endpoints)
    .executeTakeFirstOrThrow()
}

/** What has waited for the end of the pause before waits for that of this one, or no longer; so does the rest. */
async function moveWaiting (
  queries: CompanyQueries,
  { company_id: companyId, endpoint_id: endpointId, paused_until: before }: EndpointRow,
  { paused_until: until }: EndpointRow,
  now: Date
): Promise<void> {
  await sql`update outbox set next_at = case when next_at = ${before}::timestamptz then coalesce(${until}::timestamptz, ${now})
      else greatest(next_at, ${until}::timestamptz) end
    where company_id = ${companyId} and endpoint_id = ${endpointId} and state = 'pending'`.execute(queries)
}

/** Stops what waits for an endpoint. */
export async function stopWaiting (
  queries: CompanyQueries,
  { company_id: companyId, endpoint_id: endpointId }: Pick<EndpointRow, 'company_id' | 'endpoint_id'>
): Promise<void> {
  await queries.updateTable('outbox').set({ state: 'stopped', next_at: null })
    .where('company_id', '=', companyId).where('endpoint_id', '=', endpointId).where('state', '=', 'pending').execute()
}
