import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import type { Database, OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import { keyKeptFor } from '../dispatch/dispatch-views.ts'
import { emptyEvents } from './events.ts'
import { type Erasing, type Holder, tableHolder } from './holder.ts'
import { names, type Person } from './person.ts'

/** What stands in the audit log in place of a text that names the person. */
const erased = '[erased]'

/** The tables of the core that name persons outside of dispatches: to be emptied after these. */
export function coreHolders (database: Pick<Database, 'owner' | 'now'>): Holder[] {
  const bytes = sql`encode(decode(substr(row->>'body', 3), 'hex'), 'escape') || coalesce(row->>'reading', '')`
  return [
    tableHolder(database, {
      kind: 'vendorEvents',
      table: 'inbound',
      key: sql`inbound_id`,
      type: 'uuid',
      text: bytes,
      own: sql`null::text`,
      hidden: ['parked', 'digest'],
      erase: (queries, { companyId }, ids) => emptyEvents(queries, sql`company_id = ${companyId} and inbound_id = any (${ids}::uuid[])`)
    }),
    tableHolder(database, {
      kind: 'remembered',
      table: 'provider_state',
      key: sql`provider_code || chr(31) || coalesce(user_id::text, '') || chr(31) || key`,
      type: 'text'
    }),
    tableHolder(database, { kind: 'requests', table: 'request_log', key: sql`entry_id`, type: 'uuid', hidden: ['address'] }),
    tableHolder(database, {
      kind: 'idempotencyKeys',
      table: 'idempotency_keys',
      key: sql`key`,
      type: 'text',
      hidden: ['fingerprint'],
      erase: (queries, { companyId }, ids) => eraseKeys(queries, { companyId, now: database.now }, ids)
    }),
    tableHolder(database, {
      kind: 'auditTexts',
      table: 'audit',
      key: sql`audit_id`,
      type: 'bigint',
      text: sql`jsonb_build_array(row->'facts', row->'request_id')::text`,
      hidden: ['address'],
      erase: eraseAuditTexts
    })
  ]
}

/** A key keeps a repeated request from being sent again, so it is erased only once its time is over. */
async function eraseKeys (
  queries: OwnerQueries,
  { companyId, now }: { companyId: number, now: Database['now'] },
  keys: readonly string[]
): Promise<number> {
  const { numAffectedRows } = await sql`delete from idempotency_keys as one where company_id = ${companyId} and key = any (${keys}::text[])
    and not exists (select from dispatches where dispatches.dispatch_id = one.dispatch_id
      and (status = 'uncertain' or finished_at is null or finished_at + ${keyKeptFor}::interval >= ${now}))`.execute(queries)
  return Number(numAffectedRows)
}

/** An entry of the audit log stays; the texts in it that name the person go. */
async function eraseAuditTexts (queries: OwnerQueries, { companyId, person }: Erasing, ids: readonly string[]): Promise<number> {
  await sql`set local app.erases = 'on'`.execute(queries)
  const rows = await queries.selectFrom('audit').select(['audit_id', 'facts']).where('company_id', '=', companyId)
    .where('audit_id', 'in', ids).execute()
  for (const { audit_id: id, facts } of rows) {
    await queries.updateTable('audit').set({
      facts: JSON.stringify(without(person, facts)),
      request_id: sql`case when ${names(sql`request_id`, person)} then 'erased' else request_id end`
    }).where('audit_id', '=', id).execute()
  }
  return rows.length
}

function without (person: Person, value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => without(person, item))
  if (!isRecord(value)) return person.isIn(JSON.stringify(value)) ? erased : value
  const entries = Object.entries(value as JsonObject)
  return Object.fromEntries(entries.map(([name, one]) => [name, without(person, one ?? null)]))
}
