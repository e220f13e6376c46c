import { type Counts, type Json, type JsonObject, sumOfCounts } from '@dispatch/common'
import type { DispatchStatus } from '@dispatch/contract'
import { type Database, firstIdAt, idSkew, type OwnerQueries } from '@dispatch/database'
import { columnsOf, mayHaveSealed, openRow } from '@dispatch/tables'
import { type RawBuilder, sql } from 'kysely'
import type { DispatchRows } from '../dispatch/dispatch-rows.ts'
import { emptyEvents, textOfEvent } from './events.ts'
import { type Erased, type Found, namesSealed } from './holder.ts'
import { anyWord, names, type Person } from './person.ts'

/** Dispatches that one search reads: each has several steps and a timeline. */
const together = 100

/** Seconds after the end of a run in which the log of its exchanges is written. */
const settled = 3

/** What stands in place of a text that a table has to have. */
const erasedWord = 'erased'

/** The tables of what belongs to a dispatch, which names a person as soon as one of their rows does. */
const parts = ['steps', 'events', 'documents', 'exchange_log'] as const

/** What the company has written: of a dispatch, and of a step. */
const [ofDispatches, ofSteps] = [
  sql`jsonb_build_array(page.data, page.metadata)::text`,
  sql`jsonb_build_array(part.fields, part.request_settings, part.data, part.made)`
]

/** The dispatches of a company, behind one of them, that name a person. */
export async function findDispatchesOf (
  { owner }: Pick<Database, 'owner'>,
  { companyId, person, after }: { companyId: number, person: Person, after: string | undefined }
): Promise<{ found: Found[], next?: string }> {
  const rows = await owner.selectFrom('dispatches').select('dispatch_id').where('company_id', '=', companyId)
    .$if(after !== undefined, (query) => query.where('dispatch_id', '>', after ?? '')).orderBy('dispatch_id').limit(together).execute()
  const ids = rows.map((row) => row.dispatch_id)
  const found = await contentsOf(owner, companyId, await dispatchesNaming({ owner }, { companyId, person }, ids))
  const last = ids.at(-1)
  return ids.length < together || last === undefined ? { found } : { found, next: last }
}

/** The dispatches among these of a company, at most 100, that name a person, in order. */
export async function dispatchesNaming (
  { owner }: Pick<Database, 'owner'>,
  { companyId, person }: { companyId: number, person: Person },
  among: readonly string[]
): Promise<string[]> {
  if (among.length === 0) return []
  const ofParts = [
    ...parts.map((table) =>
      sql`select to_jsonb(part) as row, ${table === 'steps' ? ofSteps : sql`null`} as own from ${sql.table(table)} as part
      where part.dispatch_id = page.dispatch_id and part.company_id = page.company_id`
    ),
    sql`select to_jsonb(part) as row, null as own from attempts as part join steps using (step_id)
      where steps.dispatch_id = page.dispatch_id`
  ]
  const { rows } = await sql<{ id: string, found: boolean, has_sealed: boolean }>`
    select dispatch_id as id, ${names(sql`to_jsonb(page)::text`, person, ofDispatches)} or exists (
        select from (${sql.join(ofParts, sql` union all `)}) as parts where ${names(sql`parts.row::text`, person, sql`parts.own::text`)}
      ) as found, ${mayHaveSealed(sql`to_jsonb(page)`)} or exists (select from steps where dispatch_id = page.dispatch_id
        and ${mayHaveSealed(sql`to_jsonb(steps)`)}) or exists (select from exchange_log where dispatch_id = page.dispatch_id
        and company_id = page.company_id and ${mayHaveSealed(sql`exchanges`)}) as has_sealed
    from (select ${columnsOf('dispatches')} from dispatches where company_id = ${companyId}
      and dispatch_id = any (${among}::uuid[])) as page`.execute(owner)
  const ids = rows.flatMap(({ id, found: is }) => is ? [id] : [])
  const unproven = rows.flatMap(({ id, found: is, has_sealed: hasAny }) => !is && hasAny ? [id] : [])
  return [...ids, ...await namedWithin(owner, { companyId, person }, unproven)].sort()
}

/** Dispatches that are opened at once. */
const openedTogether = 10

/** The dispatches among these that name a person in their sealed columns. */
async function namedWithin (
  owner: Database['owner'],
  { companyId, person }: { companyId: number, person: Person },
  ids: readonly string[]
): Promise<string[]> {
  const named: string[] = []
  for (let at = 0; at < ids.length; at += openedTogether) {
    const ofTable = (table: string, columns: readonly string[]): RawBuilder<unknown> =>
      sql`(select coalesce(jsonb_agg(jsonb_build_object(${
        sql.join(columns.map((column) => sql`${sql.lit(column)}::text, ${sql.ref(`part.${column}`)}`))
      })), '[]')
        from ${sql.table(table)} as part where part.dispatch_id = one.dispatch_id and part.company_id = one.company_id)`
    const { rows } = await sql<{ id: string, parts: JsonObject[] }>`select dispatch_id as id, jsonb_build_object('data', data)
        || ${ofTable('steps', ['fields', 'request_settings', 'data', 'made'])} || ${ofTable('exchange_log', ['exchanges'])} as parts
      from dispatches as one where company_id = ${companyId}
        and dispatch_id = any (${ids.slice(at, at + openedTogether)}::uuid[])`.execute(owner)
    for (const { id, parts } of rows) {
      const are = await Promise.all(parts.map((part) => namesSealed(owner, person, part, ['exchanges'])))
      if (are.includes(true)) named.push(id)
    }
  }
  return named
}

/** What of a row is not the person's: the rest of it is exported. */
const internal = ['company_id', 'run_id', 'leased_until', 'path', 'recipient_key', 'storage_key', 'sha256', 'traceparent']

type Content = { id: string, dispatch: JsonObject, steps: JsonObject[], documents: Json[], events: Json[], exchanges: JsonObject[] }

async function contentsOf (owner: Database['owner'], companyId: number, ids: readonly string[]): Promise<Found[]> {
  if (ids.length === 0) return []
  const ofTable = (table: string, order: string): RawBuilder<unknown> =>
    sql`(select coalesce(jsonb_agg(to_jsonb(part) - ${internal}::text[] order by ${sql.ref(`part.${order}`)}), '[]')
      from ${sql.table(table)} as part where part.dispatch_id = one.dispatch_id and part.company_id = one.company_id)`
  const { rows } = await sql<Content>`
    select dispatch_id as id, to_jsonb(one) - ${internal}::text[] as dispatch, ${ofTable('steps', 'position')} as steps,
      ${ofTable('documents', 'created_at')} as documents, ${ofTable('events', 'event_id')} as events,
      ${ofTable('exchange_log', 'entry_id')} as exchanges
    from dispatches as one where company_id = ${companyId} and dispatch_id = any (${ids}::uuid[]) order by dispatch_id`.execute(owner)
  const openRows = (stored: readonly JsonObject[]): Promise<JsonObject[]> => Promise.all(stored.map((row) => openRow(owner, row)))
  const opened = await Promise.all(rows.map(async ({ dispatch, steps, exchanges, ...row }) => ({
    ...row,
    dispatch: await openRow(owner, dispatch),
    steps: await openRows(steps),
    exchanges: await openRows(exchanges)
  })))
  return opened.map(({ id, dispatch, ...content }) => ({
    id,
    content: { ...dispatch, ...content },
    counts: {
      dispatches: 1,
      documents: content.documents.length,
      events: content.events.length,
      exchanges: content.exchanges.length
    }
  }))
}

/** The dispatches among these that wait in the queue. */
export async function queuedOf ({ owner }: Pick<Database, 'owner'>, companyId: number, ids: readonly string[]): Promise<string[]> {
  const rows = await owner.selectFrom('dispatches').select('dispatch_id').where('company_id', '=', companyId)
    .where('dispatch_id', 'in', ids).where('status', '=', 'queued').execute()
  return rows.map((row) => row.dispatch_id)
}

/**
 * Empties dispatches of which nothing goes on; the others wait. What stays is what accounts and statistics count: which services and
 * providers, when, what became of it, what it cost. Their documents expire at once; their files are removed afterwards. Vendors' events
 * that come later find no step.
 */
export async function eraseDispatches (
  queries: OwnerQueries,
  { companyId, person, now, dispatchRows }: {
    companyId: number
    person: Person
    now: Database['now']
    dispatchRows: readonly DispatchRows[]
  },
  ids: readonly string[]
): Promise<Erased> {
  const { rows: locked } = await sql<{ id: string, still: boolean }>`
    select dispatch_id as id, status = any (${ended}) and run_id is null
        and coalesce(finished_at, created_at) < ${now} - make_interval(secs => ${settled}) and not exists (
          select from steps where steps.dispatch_id = dispatches.dispatch_id
            and (steps.status = 'calling' or next_look_at is not null or steps.next_try_at is not null or cancel_run is not null)
        ) as still
    from dispatches where company_id = ${companyId} and dispatch_id = any (${ids}::uuid[]) order by dispatch_id for update`.execute(queries)
  const still = locked.filter((row) => row.still).map(({ id }) => id)
  const waiting = locked.length - still.length
  if (still.length === 0) return { counts: {}, waiting }
  await sql`set local app.erases = 'on'`.execute(queries)
  const theirs = sql`company_id = ${companyId} and dispatch_id = any (${still}::uuid[])`
  await forgetEvents(queries, { companyId, person }, theirs)
  const documents = await counted(queries, sql`update documents set filename = ${erasedWord}, expires_at = 'epoch' where ${theirs}`)
  const events = await counted(queries, sql`update events set facts = '{}' where ${theirs}`)
  const exchanges = await counted(queries, sql`delete from exchange_log where ${theirs}`)
  const keptOf: Counts[] = []
  for (const { erase } of dispatchRows) keptOf.push(await erase(queries, { companyId, ids: still, names: (text) => names(text, person) }))
  await counted(queries, sql`delete from dispatch_metadata where ${theirs}`)
  await counted(queries, sql`update attempts set error = jsonb_build_object('word', error->'word', 'message', ${erasedWord}::text)
    where error is not null and step_id in (select step_id from steps where ${theirs})`)
  await counted(queries, sql`update steps set fields = '{}', request_settings = '{}', made = null, data = null, remote_id = null,
      delivery_reason = null, status = case status when 'waiting' then 'skipped' else status end,
      response = case when response is null then null
        else jsonb_build_object('id', ${erasedWord}::text, 'status', response->'status') end,
      error = case when error is null then null else jsonb_build_object('word', error->'word', 'message', ${erasedWord}::text) end
    where ${theirs}`)
  await counted(queries, sql`update dispatches set data = null, metadata = '{}', recipient = null, document_number = null,
      callback_url = null,
      request_id = case when ${names(sql`request_id`, person)} then ${erasedWord} else request_id end where ${theirs}`)
  return { counts: sumOfCounts([{ dispatches: still.length, documents, events, exchanges }, ...keptOf]), waiting }
}

const ended: readonly DispatchStatus[] = ['succeeded', 'failed', 'partial', 'cancelled', 'uncertain']

/** The fewest characters of a vendor's id that is looked for in texts: shorter ones are other things, too. */
const fewestOfId = 8

/**
 * Vendors' events about steps of dispatches. At an address of all companies, an id that only stands somewhere in a text may be somebody
 * else's: there the text names the person, too.
 */
async function forgetEvents (
  queries: OwnerQueries,
  { companyId, person }: { companyId: number, person: Person },
  theirs: RawBuilder<unknown>
): Promise<void> {
  const { rows } = await sql<{ provider: string, ids: string[], since: Date }>`
    select provider_code as provider, array_agg(distinct remote_id) as ids, min(created_at) as since
    from steps join dispatches using (company_id, dispatch_id) where ${theirs} and remote_id is not null group by provider_code`
    .execute(queries)
  for (const { provider, ids, since } of rows) {
    const written = sql`${textOfEvent} ~ ${anyWord(ids.filter((id) => id.length >= fewestOfId))}::text`
    await emptyEvents(queries, sql`inbound_id >= ${firstIdAt(since.getTime() - idSkew)} and provider_code = ${provider}
      and (company_id = ${companyId} or company_id is null)
      and (reading->>'remoteId' = any (${ids}) or (${written} and (company_id is not null or ${names(textOfEvent, person)})))`)
  }
}

async function counted (queries: OwnerQueries, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await statement.execute(queries)
  return Number(numAffectedRows ?? 0)
}

/** Documents of a company that were erased, and whose files are still there. */
export async function listErasedFiles ({ owner }: Pick<Database, 'owner'>, companyId: number) {
  return owner.selectFrom('documents').select(['document_id as documentId', 'storage_key as storageKey'])
    .where('company_id', '=', companyId).where('removed_at', 'is', null).where('expires_at', '<=', new Date(0)).limit(together).execute()
}
