import { type CompanyQueries, firstIdAt, idSkew } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import type { AlertKind } from '../contract/alerts.ts'
import type { Condition, Facts } from './tables.ts'

type Requested = { companyId: number, condition: Condition, now: Date }
export type Found = { isMet: boolean, facts: Facts }

/** The most dispatches, callbacks or doubts that a look reads: the newest. */
const maxRead = 5_000

const before = (now: Date, minutes = 0): Date => new Date(now.getTime() - minutes * 60_000)

/** The dispatches of the last minutes, as "chosen". */
function chosen ({ companyId, condition: { minutes }, now }: Requested): RawBuilder<unknown> {
  const from = before(now, minutes)
  return sql`chosen as materialized (
    select dispatch_id, status as dispatch_status from dispatches where company_id = ${companyId}
      and dispatch_id >= ${firstIdAt(from.getTime() - idSkew)} and created_at >= ${from} and not test
    order by dispatch_id desc limit ${maxRead}
  )`
}

/** The condition on steps; `provider`: who was called. */
function isSelected ({ service, provider }: Condition, called: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(${service ?? null}::text is null or service = ${service ?? null})
    and (${provider ?? null}::text is null or ${called} = ${provider ?? null})`
}

const code = sql`provider_code`

/** How each kind is looked for, by queries of the company. */
export const measures: Readonly<Record<AlertKind, (queries: CompanyQueries, requested: Requested) => Promise<Found>>> = {
  async failures (queries, requested) {
    const { condition } = requested
    const { rows: [found = { count: 0, failed: 0 }] } = await sql<{ count: number, failed: number }>`with ${chosen(requested)}
      select count(*)::integer as count, (count(*) filter (where status <> 'accepted'))::integer as failed
      from chosen join steps using (dispatch_id) where ${isSelected(condition, code)} and (status in ('accepted', 'rejected')
        or status = 'unavailable' and dispatch_status in ('failed', 'partial'))`.execute(queries)
    const isMet = found.count >= (condition.least ?? 1) && found.failed * 100 >= found.count * (condition.percent ?? 100)
    return { isMet, facts: { value: found.failed, count: found.count } }
  },

  // Who was called stands in the timeline: a step goes on to another provider.
  async provider_unavailable (queries, requested) {
    const { condition, condition: { least = 1 } } = requested
    const { rows } = await sql<{ provider: string }>`with ${chosen(requested)}, called as (
        select step_id, facts->>'providerName' as provider, row_number() over (partition by step_id order by event_id) as number
        from chosen join events using (dispatch_id) where kind = 'calling'
      ), calls as (
        select provider, outcome, row_number() over (partition by provider order by answered_at desc) as place
        from called join attempts using (step_id, number) join steps using (step_id)
        where answered_at is not null and ${isSelected(condition, sql`provider`)}
      ) select provider from calls where place <= ${least} group by provider
        having count(*) = ${least} and bool_and(outcome = 'unavailable') order by provider limit 20`.execute(queries)
    return { isMet: rows.length > 0, facts: { value: rows.length, providers: rows.map(({ provider }) => provider) } }
  },

  async credits_low (queries, { companyId, condition: { credits = 0 } }) {
    const { rows: [row] } = await sql<{ free: string }>`select balance - held as free from credits where company_id = ${companyId}`.execute(
      queries
    )
    const free = Number(row?.free ?? 0)
    return { isMet: free < credits, facts: { value: free } }
  },

  // An endpoint that was disabled because it fails is failing.
  async callbacks_failing (queries, { companyId, condition: { minutes }, now }) {
    const since = before(now, minutes)
    const { rows: [found] } = await sql<{ count: number }>`select count(*)::integer as count from (
        select endpoint_id::text from callback_endpoints where company_id = ${companyId} and removed_at is null
          and failing_since <= ${since} and (enabled or disabled_at is not null)
        union select receiver from (
          select receiver, tries, created_at from outbox where endpoint_id is null and company_id = ${companyId} and state = 'pending'
          order by next_at limit ${maxRead}
        ) as waiting where tries > 0 and created_at <= ${since}
      ) as failing`.execute(queries)
    const value = found?.count ?? 0
    return { isMet: value > 0, facts: { value } }
  },

  async doubt (queries, { companyId, condition, now }) {
    const { rows: [found] } = await sql<{ count: number }>`with doubtful as materialized (
        select dispatch_id from dispatches where company_id = ${companyId} and status = 'uncertain' and not test
        order by dispatch_id desc limit ${maxRead}
      ) select count(*)::integer as count from doubtful join steps using (dispatch_id)
      where status = 'uncertain' and uncertain_at <= ${before(now, condition.minutes)} and ${isSelected(condition, code)}`.execute(queries)
    const value = found?.count ?? 0
    return { isMet: value > 0, facts: { value } }
  }
}
