import { firstIdAt, idSkew } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'

/** Dispatches of a company that were sent for from one time on and before another: created, or due where they are scheduled. */
export type Span = { companyId: number, from: Date, to: Date }

/** When a dispatch counts. */
export const sentAt = sql<Date>`coalesce((dispatches.schedule->>'dueAt')::timestamptz, dispatches.created_at)`

/** The condition on rows of `dispatches`. Moments of schedules are texts in the order of their times. */
export function isWithin ({ companyId, from, to }: Span): RawBuilder<boolean> {
  return sql<boolean>`dispatches.company_id = ${companyId} and (
    dispatches.schedule->>'dueAt' >= ${from.toISOString()} and dispatches.schedule->>'dueAt' < ${to.toISOString()}
    or dispatches.dispatch_id >= ${firstIdAt(from.getTime() - idSkew)} and dispatches.dispatch_id < ${firstIdAt(to.getTime() + idSkew)}
      and created_at >= ${from} and created_at < ${to} and dispatches.schedule->>'dueAt' is null)`
}

/** The id of the API key that a dispatch was sent with, '' for none. */
export const keyOf = sql`coalesce((select actor->>'keyId' from events where events.dispatch_id = dispatches.dispatch_id and kind = 'planned'
  order by event_id limit 1), '')`

/**
 * Queries that begin a statement; the last of them, `counted`, has what is counted of the dispatches. `value`: something else that they are
 * told apart by. Of a latency the name is its place on a scale, on which each is 2^(1/4) times the one before; the first is 1 ms.
 */
export function counting (span: Span, value: RawBuilder<unknown> = sql`null::text`): RawBuilder<unknown> {
  return sql`chosen as materialized (
      select dispatch_id, ${sentAt} as sent_at, user_id, ${keyOf} as key, test, status as dispatch_status, ${value} as value
      from dispatches where ${isWithin(span)}
    ), taken as materialized (
      select chosen.*, step_id, position, rest_of, service, coalesce(provider_code, '') as provider, steps.status, error->>'word' as word,
        charged, delivery_status, document_id, marks
      from chosen join steps using (dispatch_id) where steps.status not in ('waiting', 'skipped')
    ), counted as (
      select taken.sent_at, service, provider, user_id, key, test, value, measure, name, count
      from taken left join documents using (document_id) cross join lateral (values
        ('begun', '', (position = 0 and rest_of is null)::integer),
        ('steps', '', 1),
        ('accepted', '', (taken.status = 'accepted')::integer),
        ('failed', coalesce(word, 'internal_error'),
          (taken.status = 'rejected' or taken.status = 'unavailable' and dispatch_status in ('failed', 'partial'))::integer),
        ('credits', '', charged),
        ('delivery', coalesce(delivery_status, ''), (delivery_status is not null)::integer),
        ('pages', '', case when taken.status = 'accepted' then coalesce(pages, 0) else 0 end)
      ) as measured (measure, name, count) where count > 0
      union all
      select taken.sent_at, service, provider, user_id, key, test, value, 'mark', mark, 1 from taken cross join unnest(marks) as mark
      union all
      select taken.sent_at, service, provider, user_id, key, test, value, 'latency',
        floor(4 * log(2, greatest(1, extract(epoch from answered_at - started_at) * 1000)::numeric))::text, 1
      from taken join attempts using (step_id) where answered_at is not null
    )`
}
