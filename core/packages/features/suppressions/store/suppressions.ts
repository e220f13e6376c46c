import { createFreshCache, type Database, type Freshness, type OwnerQueries } from '@dispatch/database'
import type { ServiceName, SuppressionReason } from '@dispatch/services'
import { type Selectable, sql } from 'kysely'
import type { SuppressionFilter } from '../contract/suppressions.ts'

type Tables = {
  suppressions: {
    suppression_id: string
    company_id: number
    channel: ServiceName
    address: string
    reason: SuppressionReason
    note: string | null
    user_id: number | null
    dispatch_id: string | null
    since: Date
  }
  suppressed_channels: { company_id: number, channel: ServiceName }
  transactional_templates: { company_id: number, template_id: number, reasons: SuppressionReason[], changed_at: Date }
}

export type SuppressionRow = Selectable<Tables['suppressions']>
export type NewSuppression = Omit<SuppressionRow, 'company_id' | 'since'>
type Key = Pick<SuppressionRow, 'channel' | 'address'>

const columns = ['suppression_id', 'company_id', 'channel', 'address', 'reason', 'note', 'user_id', 'dispatch_id', 'since'] as const

/** Queries that know the tables of suppressions. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<Tables>()
}

/** Through which channels companies have ever sent nothing to somebody, as of the last check of what has changed. */
export function createSuppressedChannels (
  database: Database,
  freshness: Freshness
): { of: (companyId: number) => Promise<ReadonlySet<ServiceName>> } {
  const cache = createFreshCache<number, ReadonlySet<ServiceName>>(freshness, (companyId) => companyId)
  const read = (companyId: number): Promise<ReadonlySet<ServiceName>> =>
    database.company(companyId, async (queries) => {
      const rows = await tablesIn(queries).selectFrom('suppressed_channels').select('channel').where('company_id', '=', companyId).execute()
      return new Set(rows.map(({ channel }) => channel))
    })
  return { of: (companyId) => cache.get(companyId, () => read(companyId)) }
}

/** Those of some addresses to which a company sends nothing. */
export async function findSuppressed (database: Database, companyId: number, keys: readonly Key[]): Promise<SuppressionRow[]> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('suppressions').select(columns).where('company_id', '=', companyId)
        .where('channel', 'in', [...new Set(keys.map(({ channel }) => channel))])
        .where('address', 'in', [...new Set(keys.map(({ address }) => address))]).execute())
}

/** A page of a company's suppressions, the newest first. */
export async function listSuppressions (
  database: Database,
  companyId: number,
  { channel, reason, search }: SuppressionFilter,
  { limit, after }: { limit: number, after?: string | undefined }
): Promise<SuppressionRow[]> {
  return database.reading(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('suppressions').select(columns).where('company_id', '=', companyId)
        .$if(channel !== undefined, (query) => query.where('channel', '=', channel ?? null))
        .$if(reason !== undefined, (query) => query.where('reason', '=', reason ?? null))
        .$if(search !== undefined, (query) => query.where(sql<boolean>`strpos(address, ${search?.toLowerCase()}) > 0`))
        .$if(after !== undefined, (query) => query.where('suppression_id', '<', after ?? ''))
        .orderBy('suppression_id', 'desc').limit(limit).execute())
}

export async function findSuppression (database: Database, companyId: number, id: string): Promise<SuppressionRow | undefined> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('suppressions').select(columns).where('company_id', '=', companyId).where('suppression_id', '=', id)
        .executeTakeFirst())
}

/** Adds suppressions; of those that stand there already nothing changes. Answers how many are new. */
export async function addSuppressions (
  queries: Database['owner'],
  companyId: number,
  added: readonly NewSuppression[],
  now: Database['now']
): Promise<number> {
  const { rows: [counted] } = await sql<{ rows: number }>`with new as (
      insert into suppressions (suppression_id, company_id, channel, address, reason, note, user_id, dispatch_id, since)
      select suppression_id, ${companyId}, channel, address, reason, note, user_id, dispatch_id, ${now}
      from json_to_recordset(${
    JSON.stringify(added)
  }::json) as one (suppression_id uuid, channel text, address text, reason text, note text,
        user_id integer, dispatch_id uuid)
      on conflict (company_id, channel, address) do nothing returning 1
    ) select count(*)::integer as rows from new`.execute(queries)
  return counted?.rows ?? 0
}

/** The suppression of an address. */
export async function readSuppressed (queries: Database['owner'], companyId: number, { channel, address }: Key): Promise<SuppressionRow> {
  return tablesIn(queries).selectFrom('suppressions').select(columns).where('company_id', '=', companyId).where('channel', '=', channel)
    .where('address', '=', address).executeTakeFirstOrThrow()
}

/** Removes a suppression; undefined where there is none. */
export async function removeSuppression (queries: Database['owner'], companyId: number, id: string): Promise<SuppressionRow | undefined> {
  return tablesIn(queries).deleteFrom('suppressions').where('company_id', '=', companyId).where('suppression_id', '=', id)
    .returning(columns).executeTakeFirst()
}

/** Whether nothing is sent to an address. */
export async function isSuppressed (queries: OwnerQueries, companyId: number, { channel, address }: Key): Promise<boolean> {
  const row = await tablesIn(queries).selectFrom('suppressions').select('channel').where('company_id', '=', companyId)
    .where('channel', '=', channel).where('address', '=', address).executeTakeFirst()
  return row !== undefined
}

/** Removes what answers have made of an address; what people have written down stays. */
export async function removeStopped (
  queries: OwnerQueries,
  companyId: number,
  channel: ServiceName,
  addresses: readonly string[]
): Promise<void> {
  await tablesIn(queries).deleteFrom('suppressions').where('company_id', '=', companyId).where('channel', '=', channel)
    .where('address', 'in', addresses).where('reason', '=', 'stopped').where('user_id', 'is', null).execute()
}

/** The reasons for which templates are sent all the same, by the ids of the templates: of some of them, or of all. */
export async function listTransactional (
  database: Database,
  companyId: number,
  templateIds?: readonly number[]
): Promise<Map<number, readonly SuppressionReason[]>> {
  const rows = await database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('transactional_templates').select(['template_id', 'reasons']).where('company_id', '=', companyId)
        .$if(templateIds !== undefined, (query) => query.where('template_id', 'in', [...templateIds ?? []]))
        .orderBy('template_id').execute())
  return new Map(rows.map(({ template_id: id, reasons }) => [id, reasons]))
}

/** Sets the reasons for which a template is sent all the same. */
export async function setTransactional (
  queries: Database['owner'],
  companyId: number,
  { templateId, reasons }: { templateId: number, reasons: SuppressionReason[] },
  now: Database['now']
): Promise<void> {
  const tables = tablesIn(queries)
  if (reasons.length === 0) {
    await tables.deleteFrom('transactional_templates').where('company_id', '=', companyId).where('template_id', '=', templateId).execute()
    return
  }
  await sql`insert into transactional_templates (company_id, template_id, reasons, changed_at)
      values (${companyId}, ${templateId}, ${reasons}, ${now})
    on conflict (company_id, template_id) do update set reasons = excluded.reasons, changed_at = excluded.changed_at`.execute(queries)
}

/** The fields of a step. */
export async function fieldsOf (queries: OwnerQueries, stepId: string) {
  const step = await queries.selectFrom('steps').select('fields').where('step_id', '=', stepId).executeTakeFirst()
  return step?.fields
}

/** The name of a company. */
export async function companyName ({ owner }: Database, companyId: number): Promise<string | undefined> {
  const company = await owner.selectFrom('companies').select('name').where('company_id', '=', companyId).executeTakeFirst()
  return company?.name
}

/** Rows of a company, for the tests of the walls between companies. */
export async function fillSuppressions (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`insert into suppressions (suppression_id, company_id, channel, address, reason, since)
    values (gen_random_uuid(), ${companyId}, 'any', 'ada@example.com', 'manual', now())`.execute(queries)
  await sql`insert into transactional_templates (company_id, template_id, reasons, changed_at)
    values (${companyId}, 1, '{manual}', now())`.execute(queries)
}
