import type { JsonObject } from '@dispatch/common'
import { type DeliveryStatus, deliveryStatusesOf, type EventKind, isFinalDeliveryStatus, type SaidLater } from '@dispatch/contract'
import type { CompanyQueries, Database, OwnerQueries } from '@dispatch/database'
import { addJobs, type EventActor, type PreparedJobs } from '@dispatch/tables'
import { sql } from 'kysely'
import type { TransactionHook } from '../dispatch/lease.ts'
import { moveStep, type OnStatusChange, type TrackedStep } from './deliveries.ts'

/** How saying something ends: said, certainly not, or nobody knows. */
export type SayingEnd = Extract<EventKind, 'said' | 'not_said' | 'say_unknown'>

const kinds = ['saying', 'said', 'not_said', 'say_unknown'] as const satisfies readonly EventKind[]

/**
 * What was said of a dispatch, as its timeline has it last. `statusId`: of the message; `requestedAt`: when it was said for the first time;
 * `since`: the seconds since the last entry, by the clock of the database.
 */
export type SayingRecord = {
  statusId: string
  kind: typeof kinds[number]
  saying: SaidLater
  message: string | null
  requestedAt: Date
  since: number
}

/** What was said of a dispatch, the oldest first; nothing of what was erased. */
export async function listSayings (
  database: Database,
  { companyId, dispatchId }: { companyId: number, dispatchId: string }
): Promise<SayingRecord[]> {
  return database.company(companyId, (queries) => readSayings(queries, database, { companyId, dispatchId }))
}

async function readSayings (
  queries: CompanyQueries,
  { now }: Pick<Database, 'now'>,
  { companyId, dispatchId }: { companyId: number, dispatchId: string }
): Promise<SayingRecord[]> {
  const { rows } = await sql<SayingRecord>`
    select facts->>'statusId' as "statusId", (array_agg(kind order by event_id desc))[1] as kind,
      (array_agg(facts->'saying' order by event_id) filter (where kind = 'saying'))[1] as saying,
      (array_agg(facts->>'message' order by event_id desc))[1] as message, min(at) as "requestedAt",
      extract(epoch from ${now} - max(at))::float as since
    from events where company_id = ${companyId} and dispatch_id = ${dispatchId} and kind = any (${[...kinds]})
      and facts->>'statusId' is not null
    group by facts->>'statusId' order by min(event_id)`.execute(queries)
  return rows
}

/** The question what became of something that was said; `look`: how often it was asked before. */
export type SayingPoll = { companyId: number, dispatchId: string, statusId: string, look: number }

type Begun = {
  runId: string
  statusId: string
  saying: SaidLater
  actor: EventActor
  audited: TransactionHook
  /** They find out later what became of it, whatever happens to this process. */
  jobs: PreparedJobs
}

/** Notes that something is about to be said; false when the run does not have the lease of the dispatch any more. */
export async function beginSaying (
  { company, now }: Database,
  { companyId, dispatchId, stepId }: TrackedStep,
  { runId, statusId, saying, actor, audited, jobs }: Begun
): Promise<boolean> {
  const facts = JSON.stringify({ statusId, code: saying.code, saying } satisfies JsonObject | { saying: SaidLater })
  return company(companyId, async (queries) => {
    const { rows: [begun] } = await sql`
      insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
      select company_id, dispatch_id, ${stepId}, ${'saying' satisfies EventKind}, ${JSON.stringify(actor)}, ${facts}, ${now}
      from dispatches where company_id = ${companyId} and dispatch_id = ${dispatchId} and run_id = ${runId} and leased_until > ${now}
      returning event_id`.execute(queries)
    if (begun === undefined) return false
    await audited(queries)
    await addJobs(queries, jobs)
    return true
  })
}

type Ended = {
  statusId: string
  code: string
  end: SayingEnd
  /** Why it was not said. */
  message?: string | undefined
  /** Of the message, at the vendor. */
  remoteId?: string | undefined
  /** What the dispatch has come to by all that the vendor has. */
  becomes: DeliveryStatus | undefined
  /** The vendor had it, and takes it back. */
  isTakenBack: boolean
  moved: OnStatusChange
}

/** Notes how saying something has ended, and what follows from it. */
export async function endSaying (
  { owner, now }: Database,
  step: TrackedStep,
  { statusId, code, end, message, remoteId, becomes, isTakenBack, moved }: Ended
): Promise<void> {
  const { companyId, dispatchId, stepId, providerCode } = step
  const actor: EventActor = { kind: 'provider', code: providerCode }
  const facts = { statusId, code, ...(message !== undefined && { message }), ...(remoteId !== undefined && { remoteId }) }
  await owner.transaction().execute(async (queries) => {
    if (becomes !== undefined && end === 'said') return moveStep(queries, step, { kind: end, status: becomes, facts, actor }, moved, now)
    const back = isTakenBack ? await takeBack(queries, step, { becomes, message }) : undefined
    await queries.insertInto('events').values({
      company_id: companyId,
      dispatch_id: dispatchId,
      step_id: stepId,
      kind: end,
      actor: JSON.stringify(actor),
      facts: JSON.stringify({ ...facts, ...back }),
      at: now
    }).execute()
    // Who has heard that it was said hears that it is not, also where the status stays what it is.
    if (back !== undefined) await moved(queries, step, back.status, facts)
  })
}

/**
 * Gives a step the delivery status that it has without what was said of it: `becomes`, or else that of before anything was said. What the
 * vendor has told since stays. Undefined for a step of which nothing is known and nothing was said.
 */
async function takeBack (
  queries: OwnerQueries,
  { dispatchId, stepId, service }: TrackedStep,
  { becomes, message = null }: { becomes: DeliveryStatus | undefined, message: string | null | undefined }
): Promise<{ status: DeliveryStatus, before: DeliveryStatus | null, changed: boolean } | undefined> {
  // Of a step that its vendor has accepted, the least is known.
  const [least = 'received'] = deliveryStatusesOf(service)
  const { rows: [step] } = await sql<{ before: DeliveryStatus | null }>`
    select delivery_status as before from steps where step_id = ${stepId} for update`.execute(queries)
  const before = step?.before ?? null
  const { rows: [first] } = await sql<{ before: DeliveryStatus | null }>`
    with changes as (
      select event_id, kind = any (${[...kinds]}) as said, kind, facts->>'before' as before from events
      where dispatch_id = ${dispatchId} and step_id = ${stepId} and facts->>'changed' = 'true'
    )
    select before from changes where kind = 'said' and event_id > coalesce((select max(event_id) from changes where not said), 0)
    order by event_id limit 1`.execute(queries)
  if (first === undefined) return before === null ? undefined : { status: before, before, changed: false }
  const status = becomes ?? first.before ?? least
  await sql`update steps set delivery_status = ${status}, delivery_settled = ${isFinalDeliveryStatus(service, status)},
    delivery_reason = ${message} where step_id = ${stepId}`.execute(queries)
  return { status, before, changed: status !== before }
}
