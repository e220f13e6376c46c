import type { AttemptOutcome, CallbackState } from '@dispatch/contract'
import { addSeconds, asOwner, type CompanyQueries, type Database, type OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import { stopWaiting } from './endpoints.ts'
import { type FailingEndpoint, isNotificationDue, noteFailing } from './failing-endpoints.ts'
import { hostOf } from './outbox.ts'
import { secretsOfCompany } from './secrets.ts'
import type { SigningSecret } from './tables.ts'

/** A callback that this process sends now; `tries` includes this one. `endpointId` null: it goes to an address. */
export type ClaimedCallback = {
  callbackId: string
  companyId: number
  endpointId: string | null
  dispatchId: string | null
  url: string
  body: string
  number: number
  tries: number
  /** Those of the endpoint, or of the company; some may have expired. */
  secrets: readonly SigningSecret[]
  /** The trace of the request that asked for the dispatch, where it was traced. */
  traceparent: string | null
}

/**
 * `seconds`: how long a claim lasts; after that its process has surely ended. `perCompany`, `perReceiver`: how many requests may be under
 * way at a time, to the addresses of a company and as many to its endpoints, and to one of these.
 */
export type ClaimLimits = { seconds: number, perCompany: number, perReceiver: number }

/**
 * Claims the company's callback that has been due longest and whose receiver is not busy, and records the attempt. An endpoint that fails
 * has one request at a time, and all of them together have half of the company's: the others go on beside them.
 */
export async function claimCallback (
  database: Database,
  companyId: number,
  { seconds, perCompany, perReceiver }: ClaimLimits
): Promise<ClaimedCallback | undefined> {
  const { now } = database
  return database.company(companyId, async (queries) => {
    // The locks put the claims of a company in a row, so that each counts those before it. Processes of release 1.1 claim callbacks to
    // endpoints under the second one alone.
    await sql`select pg_advisory_xact_lock(hashtextextended('callback claim', ${companyId})),
      pg_advisory_xact_lock(hashtextextended('endpoint claim', ${companyId}))`.execute(queries)
    const { rows: [claimed] } = await sql<ClaimedCallback>`
      with busy as (
        select coalesce(endpoint_id::text, receiver) as target, endpoint_id is not null as is_endpoint, count(*) as requests,
          coalesce(bool_or(failing_since is not null), false) as failing
        from outbox_attempts as attempt join outbox using (callback_id) left join callback_endpoints using (endpoint_id)
        where attempt.company_id = ${companyId} and outcome is null and at > ${addSeconds(now, -seconds)} group by 1, 2
      ), under_way as (
        select coalesce(sum(requests) filter (where not is_endpoint), 0) as to_addresses,
          coalesce(sum(requests) filter (where is_endpoint), 0) as to_endpoints,
          coalesce(sum(requests) filter (where failing), 0) as to_failing
        from busy
      ), due as (
        select callback_id, endpoint.url as endpoint_url, endpoint.secrets
        from outbox as callback left join callback_endpoints as endpoint using (endpoint_id)
          left join busy on target = coalesce(endpoint_id::text, receiver) cross join under_way
        where callback.company_id = ${companyId} and state = 'pending' and next_at <= ${now}
          and case when endpoint_id is null then to_addresses else to_endpoints end < ${perCompany}
          and coalesce(busy.requests, 0) < case when failing_since is null then ${perReceiver} else 1 end
          and (failing_since is null or to_failing < ${perCompany} / 2)
        order by next_at, callback_id limit 1 for update of callback skip locked
      ), claimed as (
        update outbox set next_at = ${addSeconds(now, seconds)}, attempts = attempts + 1, tries = tries + 1,
          receiver = coalesce(${hostOf('due.endpoint_url')}, receiver)
        from due where outbox.callback_id = due.callback_id
        returning outbox.callback_id, company_id, endpoint_id, dispatch_id, coalesce(due.endpoint_url, url) as url, body, attempts, tries,
          due.secrets
      ), attempt as (
        insert into outbox_attempts (callback_id, number, company_id, to_endpoint, at)
        select callback_id, attempts, company_id, endpoint_id is not null, ${now} from claimed
      )
      select callback_id as "callbackId", company_id as "companyId", endpoint_id as "endpointId", dispatch_id as "dispatchId", url, body,
        attempts as number, tries, coalesce(secrets, ${secretsOfCompany(companyId)}) as secrets,
        (select traceparent from steps where steps.dispatch_id = claimed.dispatch_id and position = 0) as traceparent
        from claimed`.execute(queries)
    return claimed
  })
}

/** A company that has callbacks to send, and whether they go to endpoints. */
export type DueCallbacks = { companyId: number, toEndpoint: boolean }

/** Which callbacks of the company are due within so many seconds: those to addresses, to endpoints, both or none. */
export async function findDueCallbacks (database: Database, companyId: number, seconds: number): Promise<DueCallbacks[]> {
  return database.company(companyId, async (queries) => {
    const due = sql`company_id = ${companyId} and state = 'pending' and next_at <= ${addSeconds(database.now, seconds)}`
    const { rows } = await sql<DueCallbacks>`
      select ${companyId}::integer as "companyId", false as "toEndpoint" where exists (select from outbox where endpoint_id is null and ${due})
      union all
      select ${companyId}::integer, true where exists (select from outbox where endpoint_id is not null and ${due})`.execute(queries)
    return rows
  })
}

/** Companies with callbacks that have been due for so many seconds: their jobs may have been lost. */
export async function listCompaniesDue ({ owner, now }: Database, seconds: number): Promise<DueCallbacks[]> {
  const { rows } = await sql<DueCallbacks>`
    select distinct company_id as "companyId", endpoint_id is not null as "toEndpoint" from outbox
    where state = 'pending' and next_at < ${addSeconds(now, -seconds)}`.execute(owner)
  return rows
}

/** The outcome of an attempt, and the new state of its callback. `after`: seconds until a pending one is sent again. */
export type AttemptEnd =
  & { outcome: AttemptOutcome, status?: number, reason?: string, milliseconds: number }
  & ({ state: 'pending', after: number } | { state: Exclude<CallbackState, 'pending'> })

/** An attempt at a callback. */
export type AttemptRef = Pick<ClaimedCallback, 'companyId' | 'callbackId' | 'endpointId' | 'number'>

/**
 * Records the outcome of an attempt, and whether an endpoint fails. Where a newer attempt has begun, the callback keeps its state. `tell`
 * tells the company of an endpoint that has failed for days, in the same transaction: that it does, and then that it is disabled.
 */
export async function settleCallback (
  database: Database,
  attempt: AttemptRef,
  end: AttemptEnd,
  tell: (queries: OwnerQueries, failing: FailingEndpoint) => Promise<void>
): Promise<void> {
  const { companyId, endpointId } = attempt
  await database.company(companyId, async (queries) => {
    if (endpointId === null) return recordAttempt(queries, attempt, { ...end, now: database.now })
    const delivered = end.outcome === 'delivered'
    const isDue = !delivered && await isNotificationDue(database, queries, { companyId, endpointId })
    // Credits are locked before endpoints, in the order in which every notification locks them.
    if (isDue) await sql`select from credits where company_id = ${companyId} for update`.execute(queries)
    // The endpoint is locked before its callbacks, as it is where somebody disables it.
    await sql`update callback_endpoints set failing_since = ${delivered ? null : database.now}, warned_at = null
      where company_id = ${companyId} and endpoint_id = ${endpointId} and (failing_since is null) = ${!delivered}`.execute(queries)
    const failing = isDue ? await noteFailing(database, queries, { companyId, endpointId }) : undefined
    await recordAttempt(queries, attempt, { ...end, now: database.now })
    if (end.state === 'pending') {
      await sql`update outbox as callback set next_at = paused_until from callback_endpoints as endpoint
        where callback.company_id = ${companyId} and callback_id = ${attempt.callbackId} and state = 'pending'
          and callback.endpoint_id = ${endpointId} and endpoint.endpoint_id = ${endpointId} and next_at < paused_until`.execute(queries)
    }
    if (failing?.type === 'company.endpoint_disabled') await stopWaiting(queries, { company_id: companyId, endpoint_id: endpointId })
    if (failing !== undefined) await tell(await asOwner(queries), failing)
  })
}

async function recordAttempt (
  queries: CompanyQueries,
  { companyId, callbackId, endpointId, number }: AttemptRef,
  { now, ...end }: AttemptEnd & { now: Database['now'] }
): Promise<void> {
  await sql`update outbox_attempts set outcome = ${end.outcome}, status = ${end.status ?? null}, reason = ${end.reason ?? null},
      milliseconds = ${end.milliseconds}
    where company_id = ${companyId} and callback_id = ${callbackId} and number = ${number} and to_endpoint = ${endpointId !== null}`
    .execute(
      queries
    )
  const nextAt = end.state === 'pending' ? addSeconds(now, end.after) : sql<Date | null>`null::timestamptz`
  // A delivery counts, even where it is known late.
  const newest = end.outcome === 'delivered' ? sql`` : sql` and attempts = ${number} and state = 'pending'`
  await sql`update outbox set state = ${end.state}, next_at = ${nextAt}
    where company_id = ${companyId} and callback_id = ${callbackId}${newest}`.execute(queries)
}
