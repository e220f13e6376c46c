import type { RetentionRule } from '@dispatch/accounts'
import { type Database, firstIdOf } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'

/** One batch of what may be deleted: rows older than `before`, at most `limit` of them. */
export type RetentionBatch = { before: Date, limit: number }

/** Whose data: of a company, of the dispatches that have one of these services, and ended before `endedBefore`. */
export type RetentionOf = Pick<RetentionRule, 'companyId' | 'services'> & { endedBefore: Date }

/** `of`: of a company that keeps it for less long than the operator says; of all companies unless given. */
type Owned = { of?: RetentionOf }

/** A batch of what a company keeps for less long than the operator says. */
export type OwnBatch = RetentionBatch & Required<Owned>

/** A document that has expired, and whose bytes are still stored. */
export type ExpiredDocument = { documentId: string, storageKey: string }

/** Documents that expired before this time, the oldest first. */
export async function listExpiredDocuments ({ owner }: Database, { before, limit }: RetentionBatch): Promise<ExpiredDocument[]> {
  return owner.selectFrom('documents').select(['document_id as documentId', 'storage_key as storageKey'])
    .where('removed_at', 'is', null).where('expires_at', '<', before).orderBy('expires_at').limit(limit).execute()
}

/** Records that the bytes of documents are deleted. Their rows stay, so that the service can say what there was. */
export async function noteRemoved ({ owner }: Database, documentIds: readonly string[], now: Date): Promise<void> {
  await owner.updateTable('documents').set({ removed_at: now }).where('document_id', 'in', documentIds).execute()
}

/** Which of these documents have a row. */
export async function recordedDocuments ({ owner }: Database, documentIds: readonly string[]): Promise<Set<string>> {
  const rows = await owner.selectFrom('documents').select('document_id').where('document_id', 'in', documentIds).execute()
  return new Set(rows.map((row) => row.document_id))
}

/**
 * Deletes the requests: the data of dispatches that are not queued or running, and the fields, settings and made content of their steps.
 * Timeline, ledger and metadata stay. A dispatch with a step that may still be done keeps everything, unless it is older than `hopeless`.
 * Of a company that keeps them for less long, one in doubt keeps everything too.
 * Answers how many dispatches it changed. The steps of each are looked up (`lateral`): planned as a set, they would all be read.
 */
export async function forgetRequests (
  database: Pick<Database, 'owner'>,
  { before, hopeless, limit, of }: RetentionBatch & Owned & { hopeless: Date }
): Promise<number> {
  return counted(database, sql`
    with old as (
      select dispatch_id from dispatches left join lateral (${unfinished(of !== undefined)}) as unfinished on true
      where ${of === undefined ? sql`` : sql`${ended(of)} and`} data is not null and created_at < ${before}
        and status not in ('queued', 'running')
        and coalesce((schedule->>'dueAt')::timestamptz, created_at) < ${before}
        and (coalesce((schedule->>'dueAt')::timestamptz, created_at) < ${hopeless} or open is null)
      order by created_at limit ${limit} for update of dispatches skip locked
    ), step as (
      update steps set fields = '{}', request_settings = '{}', made = null, data = null from old where steps.dispatch_id = old.dispatch_id
    )
    update dispatches set data = null from old where dispatches.dispatch_id = old.dispatch_id`)
}

/** A row where a step of a row of `dispatches` may still be done. `doubts`: or whose outcome is uncertain. */
function unfinished (doubts: boolean): RawBuilder<unknown> {
  return sql`select true as open from steps where steps.dispatch_id = dispatches.dispatch_id
    and (status = 'waiting' or next_look_at is not null or next_try_at is not null
      ${doubts ? sql`or status in ('calling', 'uncertain') or held > 0` : sql``}) limit 1`
}

/** Of a row of `dispatches`: it is one of these, and ended before that time for certain. */
function ended ({ companyId, services, endedBefore }: RetentionOf): RawBuilder<unknown> {
  return sql`dispatches.company_id = ${companyId} and dispatches.services && ${services}::text[] and status <> 'uncertain'
    and finished_at < ${endedBefore}`
}

/** Lets documents of dispatches that have ended expire when their company says so. Answers how many. */
export async function expireDocuments (
  database: Pick<Database, 'owner'>,
  { before, limit, of, now }: OwnBatch & { now: Date }
): Promise<number> {
  return counted(database, sql`
    update documents set expires_at = created_at + (${now}::timestamptz - ${before}::timestamptz) where document_id in (
      select document_id from documents join dispatches using (dispatch_id)
        left join lateral (${unfinished(true)}) as unfinished on true
      where documents.company_id = ${of.companyId} and removed_at is null and documents.created_at < ${before} and expires_at > ${now}
        and ${ended(of)} and status not in ('queued', 'running') and open is null
      limit ${limit} for update of documents skip locked)`)
}

/** Of a row with a `dispatch_id`: it is about one of these dispatches. */
export function aboutDispatches (of: RetentionOf, row: string): RawBuilder<unknown> {
  return sql`${sql.ref(`${row}.company_id`)} = ${of.companyId} and exists (select from dispatches
    where dispatches.dispatch_id = ${sql.ref(`${row}.dispatch_id`)} and dispatches.services && ${of.services}::text[])`
}

/** Deletes events of vendors that were handled. Answers how many. */
export async function forgetInbound (database: Database, { before, limit }: RetentionBatch): Promise<number> {
  return counted(database, sql`
    delete from inbound where inbound_id in (select inbound_id from inbound where handled_at < ${before} limit ${limit} for
      update skip locked)`)
}

/** Deletes idempotency keys whose dispatch ended before this time and is not uncertain. Answers how many. */
export async function forgetIdempotencyKeys (database: Database, { before, limit }: RetentionBatch): Promise<number> {
  return counted(database, sql`
    delete from idempotency_keys using (
      select company_id, key from idempotency_keys join dispatches using (company_id, dispatch_id)
      where idempotency_keys.created_at < ${before} and finished_at < ${before} and status <> 'uncertain' limit ${limit} for
        update of idempotency_keys skip locked
    ) as over where idempotency_keys.company_id = over.company_id and idempotency_keys.key = over.key`)
}

/** Deletes requests from the log by their age; answers how many. */
export async function forgetLoggedRequests (database: Database, { before, limit }: RetentionBatch): Promise<number> {
  return counted(database, sql`
    delete from request_log where ctid = any (array(select ctid from request_log where entry_id < ${firstIdOf(before)} limit ${limit}))`)
}

/** Deletes the counts of what logs have not kept, by their age. */
export async function forgetLogCounts (database: Database, { before, limit }: RetentionBatch): Promise<number> {
  return counted(database, sql`
    delete from log_counts where ctid = any (array(select ctid from log_counts where hour < ${before} limit ${limit}))`)
}

/** Deletes what providers remember and counts no more; answers how many values. */
export async function forgetState (database: Database, { before, limit }: RetentionBatch): Promise<number> {
  return counted(database, sql`
    delete from provider_state where ctid = any (array(select ctid from provider_state where expires_at < ${before} limit ${limit}))`)
}

/** Deletes exchanges with vendors from their log by their age; answers how many calls. */
export async function forgetExchanges (
  database: Pick<Database, 'owner'>,
  { before, limit, of }: RetentionBatch & Owned
): Promise<number> {
  return counted(database, sql`
    delete from exchange_log where ctid = any (array(select ctid from exchange_log
      where ${of === undefined ? sql`` : sql`${aboutDispatches(of, 'exchange_log')} and`} entry_id < ${firstIdOf(before)} limit ${limit}))`)
}

/** Deletes what people were told of, by its age; answers how many notices. */
export async function forgetNotices (database: Database, { before, limit }: RetentionBatch): Promise<number> {
  return counted(database, sql`
    delete from notices where ctid = any (array(select ctid from notices where at < ${before} limit ${limit}))`)
}

/** Forgets from where users logged in before then; answers how many such clients there were. */
export async function forgetClients (database: Database, { before, limit }: RetentionBatch): Promise<number> {
  return counted(database, sql`
    delete from known_clients where (user_id, client) in (select user_id, client from known_clients where last_at < ${before} limit ${limit}
      for update skip locked)`)
}

async function counted ({ owner }: Pick<Database, 'owner'>, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await statement.execute(owner)
  return Number(numAffectedRows)
}
