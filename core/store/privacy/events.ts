import type { Database, OwnerQueries } from '@dispatch/database'
import type { InboundState } from '@dispatch/tables'
import { type RawBuilder, sql } from 'kysely'
import type { OwnBatch } from '../dispatch/retention.ts'

/** What a vendor has told, and what was read of it. */
export const textOfEvent = sql`(encode(body, 'escape') || coalesce(reading::text, ''))`

const handled: readonly InboundState[] = ['applied', 'kept', 'duplicate', 'dropped']

/**
 * Empties events of vendors that were handled; answers how many. The rows stay, so that an event that comes once more is known: others may
 * stand in the same body.
 */
export async function emptyEvents (queries: OwnerQueries, which: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await sql`update inbound set body = '', reading = null, note = null
    where state = any (${handled}) and ${which}`.execute(queries)
  return Number(numAffectedRows)
}

/** Empties events of vendors that came to the company's own addresses and were handled. Answers how many. */
export async function emptyInbound (
  { owner }: Pick<Database, 'owner'>,
  { before, limit, of }: OwnBatch
): Promise<number> {
  return owner.transaction().execute((queries) =>
    emptyEvents(queries, sql`inbound_id in (select inbound_id from inbound
    where company_id = ${of.companyId} and handled_at < ${before} and body <> '' and service = any (${of.services}::text[])
    limit ${limit} for update skip locked)`)
  )
}
