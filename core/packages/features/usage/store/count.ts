import type { JsonObject } from '@dispatch/common'
import type { Database, OwnerQueries } from '@dispatch/database'
import { isServiceName, services } from '@dispatch/services'
import { isWithoutKey } from '@dispatch/tables'
import { type RawBuilder, sql } from 'kysely'
import { counting, isWithin, keyOf, type Span } from './source.ts'

/** Events of timelines that one look reads. */
const atOnce = 20_000
/** Texts that are read at once. */
const textsAtOnce = 2_000
const hour = 3_600_000

const measured = Object.entries(services).filter(([, service]) => service.measure !== undefined).map(([name]) => name)

type Mark = { settled: string, newest: string, is_due: boolean }

/**
 * Counts the hours of which something has happened since they were counted, each as a whole, in whichever process comes first. `keptSince`:
 * an hour before is counted once and stays, because what its dispatches have sent is not kept.
 */
export async function countHours (database: Database, keptSince: Date): Promise<void> {
  let after: bigint | undefined
  do after = await countSome(database, keptSince, after)
  while (after !== undefined)
}

/** One look; answers behind which event the next one begins, undefined where there is none. */
async function countSome ({ owner, now }: Database, keptSince: Date, after: bigint | undefined): Promise<bigint | undefined> {
  return owner.transaction().execute(async (queries) => {
    const mine = await sql<{ mine: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('document-dispatch usage', 0)) as mine`.execute(queries)
    if (mine.rows[0]?.mine !== true) return undefined
    const { rows: [mark] } = await sql<Mark>`
      select settled, newest, marked_at < ${now} - interval '1 minute' as is_due from usage_marks`.execute(queries)
    if (mark === undefined) return undefined
    const { rows: [last] } = await sql<{ id: string }>`select coalesce(max(event_id), 0) as id from events`.execute(queries)
    const [newest, begin] = [BigInt(last?.id ?? 0), after ?? BigInt(mark.settled)]
    // Where nothing happens, nothing is written.
    if (begin === newest && BigInt(mark.newest) === newest) return undefined
    const end = newest - begin > atOnce ? begin + BigInt(atOnce) : newest
    for (const touched of await listTouched(queries, { begin, end, keptSince, now })) await countHour(queries, touched)
    if (end < newest) {
      // Nothing older than what was the newest a minute ago appears any more.
      if (mark.is_due && end <= BigInt(mark.newest)) await sql`update usage_marks set settled = ${end}`.execute(queries)
      return end
    }
    await (mark.is_due
      ? sql`update usage_marks set settled = newest, newest = ${newest}, marked_at = ${now}, counted_at = ${now}`
      : sql`update usage_marks set counted_at = ${now}`).execute(queries)
    return undefined
  })
}

/** The hours of which something is told by events behind `begin`, up to `end`. */
async function listTouched (
  queries: OwnerQueries,
  { begin, end, keptSince, now }: { begin: bigint, end: bigint, keptSince: Date, now: Database['now'] }
): Promise<Span[]> {
  const { rows } = await sql<{ company_id: number, hour: Date }>`
    with told as materialized (
      select distinct dispatches.company_id, dispatch_id, created_at, schedule from events join dispatches using (dispatch_id)
      where event_id > ${begin} and event_id <= ${end}
    ), touched as (
      select company_id, date_trunc('hour', coalesce((schedule->>'dueAt')::timestamptz, created_at), 'UTC') as hour from told
      -- One that was moved counts no more where it did before.
      union select told.company_id, date_trunc('hour', coalesce((facts->>'sendAt')::timestamptz, created_at), 'UTC')
      from told join events using (dispatch_id) where schedule->>'dueAt' is not null and kind in ('planned', 'moved')
    ) select company_id, hour from touched left join retentions using (company_id)
    -- What a company keeps for fewer days goes for good then: an hour of it is not counted from there.
    where hour >= greatest(${keptSince}, ${now} + interval '1 hour' - make_interval(days => least(retentions.days,
        (select min(value::integer) from jsonb_each_text(retentions.services)))))
      or not exists (select from usage_hours where usage_hours.company_id = touched.company_id and usage_hours.hour = touched.hour)
    order by 1, 2`.execute(queries)
  return rows.map(({ company_id: companyId, hour: from }) => ({ companyId, from, to: new Date(from.getTime() + hour) }))
}

/** Counts the dispatches that were sent for in an hour, in place of what was counted before. */
async function countHour (queries: OwnerQueries, span: Span): Promise<void> {
  const parts = await partsIn(queries, span, sql`null::text`, sql`null::timestamptz`)
  await sql`delete from usage_hours where company_id = ${span.companyId} and hour = ${span.from}`.execute(queries)
  await sql`insert into usage_hours (company_id, hour, service, provider, user_id, key, test, measure, name, count)
    with ${counting(span)}
    select ${span.companyId}::integer, ${span.from}::timestamptz, service, provider, user_id, key, test, measure, name, sum(count) from counted
    group by service, provider, user_id, key, test, measure, name
    union all
    select ${span.companyId}::integer, ${span.from}::timestamptz, service, provider, user_id, key, test, 'parts', '', count
    from jsonb_to_recordset(${JSON.stringify(parts)}::jsonb)
      as part (service text, provider text, user_id integer, key text, test boolean, count bigint)`.execute(queries)
}

/** What the parts of texts are told apart by. */
type Of = { service: string, provider: string, user_id: number, key: string, test: boolean, value: string | null, at: Date | null }
type Text = Of & { dispatch_id: string, step_id: string, fields: JsonObject, made: JsonObject | null }

/** How many parts texts have that were sent: only their service can tell. `at` and `value`: what else they are told apart by. */
export async function partsIn (
  queries: Pick<OwnerQueries, 'getExecutor'>,
  span: Span,
  value: RawBuilder<unknown>,
  at: RawBuilder<unknown>
): Promise<(Of & { count: number })[]> {
  const counts = new Map<string, Of & { count: number }>()
  const nil = '00000000-0000-0000-0000-000000000000'
  let cursor: readonly [string, string] = [nil, nil]
  for (;;) {
    const { rows } = await sql<Text>`
      select dispatches.dispatch_id, step_id, service, coalesce(provider_code, '') as provider, user_id, ${keyOf} as key, test,
        ${value} as value, ${at} as at, fields, made
      from dispatches join steps using (dispatch_id)
      where ${isWithin(span)} and service = any (${measured}) and steps.status = 'accepted'
        and (dispatches.dispatch_id, step_id) > (${cursor[0]}::uuid, ${cursor[1]}::uuid)
      order by dispatches.dispatch_id, step_id limit ${textsAtOnce}`.execute(queries)
    for (const { dispatch_id: _, step_id: __, fields, made, ...of } of rows) {
      const group = JSON.stringify(of)
      const known = counts.get(group)
      const count = (known?.count ?? 0) + partsOf(of.service, fields, made)
      counts.set(group, { ...of, count })
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < textsAtOnce) return [...counts.values()]
    cursor = [last.dispatch_id, last.step_id]
  }
}

/**
 * A text whose length is not known, because a link is put into it, counts as one part. So does one whose data key is not there: the hours
 * of all other companies are counted none the less.
 */
function partsOf (service: string, fields: JsonObject, made: JsonObject | null): number {
  if (isWithoutKey(fields) || isWithoutKey(made)) return 1
  return isServiceName(service) ? services[service].measure?.(fields, made ?? {}).text?.segments ?? 1 : 1
}
