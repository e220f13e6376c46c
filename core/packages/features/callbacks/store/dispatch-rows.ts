import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { aboutDispatches, type DispatchRows, type Forget } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import { openText, sealedEvent } from '@dispatch/tables'
import { type RawBuilder, sql } from 'kysely'

/** The callbacks of dispatches, and their events in the feeds of companies. */
export const dispatchRows: DispatchRows = {
  mark: sql`(select count(*) + sum(attempts) from outbox where endpoint_id is null and outbox.dispatch_id = dispatches.dispatch_id)`,

  unfinished: sql`select true from outbox where endpoint_id is null and outbox.dispatch_id = dispatches.dispatch_id and state = 'pending'
    union all select true from callback_endpoints join outbox as callback using (endpoint_id)
      where callback_endpoints.company_id = dispatches.company_id and removed_at is null and callback.endpoint_id is not null
        and callback.dispatch_id = dispatches.dispatch_id and state = 'pending'`,

  rowsOf (theirs) {
    // The index of callbacks to endpoints begins with the endpoint.
    const callbacks = sql`(select callback_id from outbox where endpoint_id is null and ${theirs}
      union all select callback_id from (select dispatch_id, company_id from dispatches where ${theirs}) as forgotten
        join callback_endpoints using (company_id) join outbox as callback using (endpoint_id, dispatch_id)
        where callback.endpoint_id is not null)`
    return [sql`outbox_attempts where callback_id in ${callbacks}`, sql`outbox where callback_id in ${callbacks}`]
  },

  async erase (queries, { companyId, ids, names }) {
    const theirs = sql`company_id = ${companyId} and dispatch_id = any (${ids}::uuid[])`
    const callbacks = await forgetCallbacks(queries, { companyId, names }, theirs)
    await sql`delete from feed_events where company_id = ${companyId}
      and body like any (select '%' || id || '%' from unnest(${ids}::text[]) as id)`.execute(queries)
    return { callbacks }
  },

  forget: {
    callbacks: forgetBodies(sql<boolean>`endpoint_id is null`),
    endpointCallbacks: forgetBodies(sql<boolean>`endpoint_id is not null`),
    fed: forgetFeedEvents
  }
}

/** Deletes the bodies of callbacks that are not sent any more, of those where a condition holds. */
function forgetBodies (condition: RawBuilder<boolean>): Forget {
  return (database, { before, limit, of }) =>
    counted(database, sql`
      update outbox set body = null where ${condition} and callback_id in (
        select callback_id from outbox as callback where ${
      of === undefined ? sql`` : sql`${aboutDispatches(of, 'callback')} and`
    } ${condition}
          and body is not null and created_at < ${before} and state <> 'pending' limit ${limit} for update of callback skip locked)`)
}

/** Milliseconds that an event stays in the feed of its company, where the bodies of callbacks are kept for as long. */
const fedFor = 30 * 24 * 3600 * 1000

/** Deletes events from the feeds of companies, of whatever services. */
async function forgetFeedEvents (database: Database, { before, limit, now, of }: Parameters<Forget>[1]): Promise<number> {
  const last = new Date(Math.max(before.getTime(), now.getTime() - fedFor))
  return counted(database, sql`
    delete from feed_events where entry in (select entry from feed_events
      where ${of === undefined ? sql`` : sql`company_id = ${of.companyId} and`} created_at < ${last} limit ${limit} for
      update skip locked)`)
}

async function counted ({ owner }: Pick<Database, 'owner'>, statement: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows } = await statement.execute(owner)
  return Number(numAffectedRows ?? 0)
}

type Callback = { id: string, stored: string | null, pending: boolean, url: string | null, named: boolean }

/**
 * The bodies of callbacks go; one that is still to be sent keeps what is no data of the person. Where its address names the person, it is
 * not sent any more, and neither is one whose body nobody can open any more.
 */
async function forgetCallbacks (
  queries: OwnerQueries,
  { companyId, names }: { companyId: number, names: (text: RawBuilder<unknown>) => RawBuilder<boolean> },
  theirs: RawBuilder<unknown>
): Promise<number> {
  const { rows } = await sql<Callback>`select callback_id as id, body as stored, state = 'pending' as pending, url,
      coalesce(${names(sql`url`)}, false) as named
    from outbox where ${theirs} and (body is not null or ${names(sql`url`)}) for update`.execute(queries)
  for (const { id, stored, pending, url, named } of rows) {
    const body = stored === null ? null : await openText(queries, stored)
    const goesOn = pending && !named && body !== undefined
    const left = goesOn && body !== null ? await sealedEvent(queries, companyId, withoutPerson(body)) : null
    await sql`update outbox set body = ${left},
        state = case when ${goesOn} or state <> 'pending' then state else 'failed' end,
        next_at = case when ${goesOn} then next_at end
        ${url !== null && named ? sql`, url = ${new URL('/', url).href}` : sql``}
      where callback_id = ${id}`.execute(queries)
  }
  return rows.length
}

/** The fields of a dispatch and its steps that its callback keeps without the person. */
const [keptOfDispatch, keptOfSteps] = [
  ['dispatchId', 'status', 'test', 'services', 'userId', 'template', 'documentType', 'creditsCharged', 'requestId', 'createdAt',
    'finishedAt'],
  ['service', 'status', 'providerName', 'providerVersion', 'chosenBy', 'sandbox', 'creditsCharged', 'deferredOn', 'deferredState',
    'deliveryStatus']
]

function withoutPerson (text: string): string {
  const body = JSON.parse(text) as JsonObject
  const data = isRecord(body['data']) ? body['data'] : {}
  const steps = Array.isArray(data['steps']) ? data['steps'] : []
  return JSON.stringify({
    ...body,
    data: {
      ...only(data, keptOfDispatch),
      metadata: {},
      steps: steps.map((step: Json) => ({
        ...isRecord(step) ? only(step, keptOfSteps) : {},
        providerResponse: null,
        generatedDocument: null
      }))
    }
  })
}

function only (object: JsonObject, kept: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => kept.includes(name)))
}
