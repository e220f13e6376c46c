import { type Holder, tableHolder } from '@dispatch/core'
import type { CompanyQueries, Database, OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import { type AlertEvent, type AlertRow, type Facts, type MessageRow, tablesIn } from './tables.ts'

/** What is written of an alert; `chat` undefined: the sealed address stays as it is. */
export type Written =
  & Pick<AlertRow, 'name' | 'kind' | 'condition' | 'language' | 'emails' | 'callback' | 'chat_format'>
  & { chat?: Pick<AlertRow, 'chat' | 'chat_host'> }
export type AlertRef = { companyId: number, alertId: string }

const rowOf = ({ condition, chat, ...written }: Written) => ({
  ...written,
  condition: JSON.stringify(condition),
  ...chat !== undefined && { chat: chat.chat === null ? null : JSON.stringify(chat.chat), chat_host: chat.chat_host }
})

export async function listAlerts (database: Database, companyId: number): Promise<AlertRow[]> {
  return database.company(companyId,
    (queries) => tablesIn(queries).selectFrom('alerts').selectAll().where('company_id', '=', companyId).orderBy('alert_id').execute())
}

export async function findAlert (queries: Database['owner'], { companyId, alertId }: AlertRef): Promise<AlertRow | undefined> {
  return tablesIn(queries).selectFrom('alerts').selectAll().where('company_id', '=', companyId).where('alert_id', '=', alertId)
    .executeTakeFirst()
}

/** Adds an alert; undefined where the company has `max` already. Two at once wait for each other. */
export async function addAlert (
  queries: CompanyQueries,
  { companyId, alertId }: AlertRef,
  written: Written,
  { at, max }: { at: Date, max: number }
): Promise<AlertRow | undefined> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`alerts ${companyId}`}, 0))`.execute(queries)
  const tables = tablesIn(queries)
  const { count } = await tables.selectFrom('alerts').select(sql<number>`count(*)::integer`.as('count'))
    .where('company_id', '=', companyId).executeTakeFirstOrThrow()
  if (count >= max) return undefined
  return tables.insertInto('alerts').values({ company_id: companyId, alert_id: alertId, chat: null, ...rowOf(written), created_at: at })
    .returningAll().executeTakeFirstOrThrow()
}

/** Replaces an alert. Whether it is firing stays: the next look says when it has ended. */
export async function changeAlert (
  queries: CompanyQueries,
  { companyId, alertId }: AlertRef,
  written: Written
): Promise<AlertRow | undefined> {
  return tablesIn(queries).updateTable('alerts')
    .set({ ...rowOf(written), number: sql`number + 1`, looked_at: sql`'-infinity'`, undelivered: [] })
    .where('company_id', '=', companyId).where('alert_id', '=', alertId).returningAll().executeTakeFirst()
}

/** Answers false where there is none. */
export async function removeAlert (queries: CompanyQueries, { companyId, alertId }: AlertRef): Promise<boolean> {
  const { numDeletedRows } = await tablesIn(queries).deleteFrom('alerts').where('company_id', '=', companyId)
    .where('alert_id', '=', alertId).executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Notes that an alert is tried. False where it was within the last minute. */
export async function noteTrial ({ now }: Database, queries: CompanyQueries, { companyId, alertId }: AlertRef): Promise<boolean> {
  const { rows } = await sql`update alerts set tried_at = ${now} where company_id = ${companyId} and alert_id = ${alertId}
    and (tried_at is null or tried_at <= ${now} - interval '1 minute') returning 1`.execute(queries)
  return rows.length > 0
}

/** Which of some e-mail addresses are of users of a company who may sign in, or within its domains. */
export async function listOwn ({ owner }: Database, companyId: number, emails: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ email: string }>`select email from unnest(${emails}::text[]) as wanted (email)
    where exists (select from users where company_id = ${companyId} and lower(users.email) = lower(wanted.email) and disabled_at is null)
      or exists (select from company_domains where company_id = ${companyId} and domain = lower(split_part(wanted.email, '@', 2)))`.execute(
    owner
  )
  return rows.map(({ email }) => email)
}

/** Takes alerts that nobody has looked at for a minute, so many at most: of several processes each takes others. */
export async function takeAlerts ({ owner, now }: Database, max: number): Promise<AlertRow[]> {
  const { rows } = await sql<AlertRow>`update alerts set looked_at = ${now} where (company_id, alert_id) in (
      select company_id, alert_id from alerts where looked_at <= ${now} - interval '1 minute' order by looked_at limit ${max}
      for update skip locked
    ) returning *`.execute(owner)
  return rows
}

/** How long it has to be over before it ends, and how long nothing begins after an end. */
const [calmBefore, calmAfter] = [sql`interval '5 minutes'`, sql`interval '10 minutes'`]

/**
 * Moves an alert by what a look has found, unless somebody was faster. It begins at once, and ends when it has been over for 5 minutes.
 * Each move is made once; its messages, and what `tell` records, are in the same transaction.
 */
export async function moveAlert (
  { owner, now }: Database,
  row: AlertRow,
  { isMet, facts }: { isMet: boolean, facts: Facts },
  tell: (queries: OwnerQueries, event: AlertEvent) => Promise<void>
): Promise<void> {
  const { company_id: companyId, alert_id: alertId, number, firing } = row
  const mine = sql`company_id = ${companyId} and alert_id = ${alertId} and number = ${number}`
  if (firing === isMet) {
    if (row.clear_since !== null) await sql`update alerts set clear_since = null where ${mine}`.execute(owner)
    return
  }
  if (firing && row.clear_since === null) {
    await sql`update alerts set clear_since = ${now} where ${mine}`.execute(owner)
    return
  }
  const ways = [...row.emails.length === 0 ? [] : ['mail'], ...row.chat === null ? [] : ['chat']]
  const event = isMet ? 'began' : 'ended'
  await owner.transaction().execute(async (queries) => {
    const { rows: [moved] } = await sql<{ number: number }>`
      update alerts set firing = ${isMet}, number = number + 1, moved_at = ${now}, clear_since = null
      where ${mine} and ${
      isMet ? sql`(moved_at is null or moved_at <= ${now} - ${calmAfter})` : sql`clear_since <= ${now} - ${calmBefore}`
    } returning number`.execute(queries)
    if (moved === undefined) return
    await sql`insert into alert_messages (company_id, alert_id, number, way, event, facts, at, next_at)
      select ${companyId}, ${alertId}, ${moved.number}, way, ${event}, ${JSON.stringify(facts)}::jsonb, ${now}, ${now}
      from unnest(${ways}::text[]) as way`.execute(queries)
    if (row.callback) await tell(queries, event)
  })
}

/** Takes messages that are due, so many at most. Until they are settled they come again later and later, as after a failure. */
export async function takeMessages ({ owner, now }: Database, max: number): Promise<MessageRow[]> {
  const { rows } = await sql<MessageRow>`update alert_messages set tries = tries + 1, next_at = ${now} + interval '1 minute' * 2 ^ tries
    where (company_id, alert_id, number, way) in (
      select company_id, alert_id, number, way from alert_messages where next_at <= ${now} order by next_at limit ${max}
      for update skip locked
    ) returning *`.execute(owner)
  return rows
}

/** After so many tries, in two hours, a message is given up. */
const maxTries = 8

/** Notes what came of a message: what arrived or is given up is forgotten. */
export async function settleMessage (queries: Database['owner'], message: MessageRow, arrived: boolean): Promise<void> {
  const { company_id: companyId, alert_id: alertId, number, way, tries } = message
  const without = sql`array_remove(undelivered, ${way}::text)`
  await sql`update alerts set undelivered = ${arrived ? without : sql`${without} || ${way}::text`}
    where company_id = ${companyId} and alert_id = ${alertId} and (${way}::text = any (undelivered)) = ${arrived}`.execute(queries)
  if (!arrived && tries < maxTries) return
  await tablesIn(queries).deleteFrom('alert_messages').where('company_id', '=', companyId).where('alert_id', '=', alertId)
    .where('number', '=', number).where('way', '=', way).execute()
}

/** An alert stays, and writes to the person no more. */
export function alertsHolder (database: Database): Holder {
  return tableHolder(database, {
    kind: 'alerts',
    table: 'alerts',
    key: sql`alert_id`,
    type: 'uuid',
    text: sql`jsonb_build_array(row->'name', row->'emails')::text`,
    hidden: ['chat'],
    async erase (queries, { companyId, person }, ids) {
      for (const alertId of ids) {
        const row = await findAlert(queries, { companyId, alertId })
        if (row === undefined) continue
        await tablesIn(queries).updateTable('alerts').set({
          name: person.isIn(row.name) ? row.kind : row.name,
          emails: row.emails.filter((email) => !person.isIn(email))
        }).where('company_id', '=', companyId).where('alert_id', '=', alertId).execute()
      }
      return ids.length
    }
  })
}
