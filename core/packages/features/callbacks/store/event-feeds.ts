import { type Holder, tableHolder } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import { type CallbackBody, callbackBody, type NotifiedEvent } from './event-bodies.ts'

/** The most events of a company that get their places at once. */
const maxPositioned = 1_000

/** Adds an event to the feed of its company, in the transaction that records it. Does nothing where the company has no feed. */
export async function noteFeedEvent (queries: OwnerQueries, event: NotifiedEvent & { companyId: number }): Promise<void> {
  await insertFeedEvent(event, await callbackBody(queries, event), sql`true`).execute(queries)
}

/** A statement that does the same, where `condition` holds. */
export function insertFeedEvent (
  { companyId, now, sequence }: Pick<NotifiedEvent, 'now' | 'sequence'> & { companyId: number },
  body: CallbackBody,
  condition: RawBuilder<unknown>
): RawBuilder<unknown> {
  return sql`insert into feed_events (company_id, body, created_at)
    select company_id, ${body.of(sequence)}, ${now} from event_feeds where company_id = ${companyId} and ${condition}`
}

/** An event in the feed of a company. `body`: JSON, as a callback has it. */
export type FeedEvent = { position: number, body: string }

/** A part of a feed in its order. `since`: nothing that happened before is in it. `last`: the highest place that an event has had. */
export type FeedPart = { since: Date, last: number, events: FeedEvent[] }

/** Reads the events after a place, at most `limit` of them. A company that asks for the first time has a feed from now on. */
export async function readFeed (
  database: Database,
  companyId: number,
  { after, limit }: { after: number, limit: number }
): Promise<FeedPart> {
  return database.company(companyId, async (queries) => {
    await positionEvents(queries, [companyId])
    const feed = await findFeed(queries, companyId) ?? await openFeed(queries, companyId, database)
    const { rows: events } = await sql<FeedEvent>`select position::float8 as position, body from feed_events
      where company_id = ${companyId} and position > ${after} order by feed_events.position limit ${limit}`.execute(queries)
    return { ...feed, events }
  })
}

/** The highest place of each of these feeds, once all that has committed has one. */
export async function readLastPositions ({ owner }: Pick<Database, 'owner'>, companyIds: readonly number[]): Promise<Map<number, number>> {
  return owner.transaction().execute(async (queries) => {
    await positionEvents(queries, companyIds)
    const { rows } = await sql<{ companyId: number, last: number }>`select company_id as "companyId", last::float8 as last from event_feeds
      where company_id = any (${companyIds}::integer[])`.execute(queries)
    return new Map(rows.map(({ companyId, last }) => [companyId, last]))
  })
}

/**
 * Gives a place to each event that has none. Who inserts waits for nobody, so events commit in another order than they were inserted. A
 * place is given only to what has committed, by one at a time, each above all before it: who reads on after a place misses nothing.
 */
async function positionEvents (queries: OwnerQueries, companyIds: readonly number[]): Promise<void> {
  const { rows } = await sql`select company_id from event_feeds where company_id = any (${companyIds}::integer[])
    and exists (select from feed_events where feed_events.company_id = event_feeds.company_id and position is null)
    order by company_id for no key update`.execute(queries)
  if (rows.length === 0) return
  // A statement of its own sees what those who were waited for have done.
  await sql`
    with waiting as (
      select entry, company_id, last + row_number() over (partition by company_id order by entry) as place
      from event_feeds cross join lateral (
        select entry from feed_events where feed_events.company_id = event_feeds.company_id and position is null
        order by entry limit ${maxPositioned}
      ) as fresh
      where company_id = any (${companyIds}::integer[])
    ), placed as (
      update feed_events set position = place from waiting where feed_events.entry = waiting.entry
      returning feed_events.company_id, place
    )
    update event_feeds set last = highest.place from (select company_id, max(place) as place from placed group by company_id) as highest
    where event_feeds.company_id = highest.company_id`.execute(queries)
}

async function findFeed (queries: OwnerQueries, companyId: number): Promise<Omit<FeedPart, 'events'> | undefined> {
  const { rows: [feed] } = await sql<Omit<FeedPart, 'events'>>`select since, last::float8 as last from event_feeds
    where company_id = ${companyId}`.execute(queries)
  return feed
}

async function openFeed (queries: OwnerQueries, companyId: number, { now }: Database): Promise<Omit<FeedPart, 'events'>> {
  await sql`insert into event_feeds (company_id, since) values (${companyId}, ${now}) on conflict do nothing`.execute(queries)
  const feed = await findFeed(queries, companyId)
  if (feed === undefined) throw new Error('A feed that was opened is there.')
  return feed
}

/** Events that name a person: they are deleted. */
export function feedHolder (database: Database): Holder {
  return tableHolder(database, { kind: 'fedEvents', table: 'feed_events', key: sql`entry`, type: 'bigint' })
}
