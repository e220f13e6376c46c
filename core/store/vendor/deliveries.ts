import type { JsonObject } from '@dispatch/common'
import { canTransition, type ConfiguredBy, type DeliveryMark, type DeliveryService, deliveryServices, type DeliveryStatus, type EventKind,
  isFinalDeliveryStatus, originsOf, refusalOf } from '@dispatch/contract'
import type { Database, OwnerQueries, SqlTimestamp } from '@dispatch/database'
import type { Reported } from '@dispatch/host'
import type { EventActor, Tables } from '@dispatch/tables'
import { type Kysely, sql } from 'kysely'
import type { Owner } from '../configuration/configurations.ts'

/** An accepted step whose vendor reports what becomes of it. */
export type TrackedStep<Service extends DeliveryService = DeliveryService> = {
  stepId: string
  dispatchId: string
  companyId: number
  userId: number
  service: Service
  providerCode: string
  configuredBy: ConfiguredBy
  sandbox: boolean
  remoteId: string
}

/**
 * Runs in the same transaction when the delivery status of a step has changed, or it has got a mark. `facts`: what the vendor tells
 * besides, such as the `recipient`.
 */
export type OnStatusChange = (
  queries: OwnerQueries,
  step: TrackedStep,
  status: DeliveryStatus | DeliveryMark,
  facts: JsonObject
) => Promise<void>

/** A recipient of a company who wants no more by a service, or again more. `recipient`: as the vendor names them. */
export type Reply = { companyId: number, service: DeliveryService, recipient: string, wants: 'no more' | 'more' }

/** Runs in the transaction in which an event is handled that has the answer of a recipient. */
export type OnReply = (queries: OwnerQueries, reply: Reply) => Promise<void>

/** What the vendor reported about a step: a status, a mark, or (null) a word that the provider does not know. */
export type DeliveryUpdate = {
  kind: Extract<EventKind, 'webhook' | 'polled' | 'said'>
  status: DeliveryStatus | null
  mark?: DeliveryMark
  facts: JsonObject
  actor: EventActor
}

function followed<Service extends DeliveryService> (queries: Kysely<Tables>) {
  return queries.selectFrom('steps').innerJoin('dispatches', 'dispatches.dispatch_id', 'steps.dispatch_id')
    .select((row) => [
      'step_id as stepId',
      'steps.dispatch_id as dispatchId',
      'steps.company_id as companyId',
      'user_id as userId',
      row.ref('service').$castTo<Service>().as('service'),
      row.ref('provider_code').$castTo<string>().as('providerCode'),
      row.ref('configured_by').$castTo<ConfiguredBy>().as('configuredBy'),
      'sandbox',
      row.ref('remote_id').$castTo<string>().as('remoteId')
    ])
    .where('steps.status', '=', 'accepted').where('remote_id', 'is not', null)
}

/** The steps that a vendor's id may mean. `scope`: their owner; null: every company. `sandbox`: their environment; null: both. */
export type Match = { service: DeliveryService, providerCode: string, remoteId: string, scope: Owner | null, sandbox: boolean | null }

/** Finds the steps with this id at the vendor: of one owner, or of every company that uses the provider. */
export async function matchSteps (
  { owner }: Database,
  { service, providerCode, remoteId, scope, sandbox }: Match
): Promise<TrackedStep[]> {
  const all = followed<DeliveryService>(owner).where('provider_code', '=', providerCode).where('remote_id', '=', remoteId).where('service',
    '=', service)
    .$if(sandbox !== null, (steps) => steps.where('sandbox', '=', sandbox === true))
  if (scope === null) return all.limit(100).execute()
  const own = all.where('steps.company_id', '=', scope.companyId).limit(100)
  return (scope.userId === null
    ? own.where('configured_by', '=', 'company')
    : own.where('configured_by', '=', 'user').where('user_id', '=', scope.userId)).execute()
}

/** The accepted steps of a dispatch whose delivery status may still change. */
export async function listUnsettledSteps (
  { owner }: Database,
  { companyId, dispatchId }: { companyId: number, dispatchId: string }
): Promise<TrackedStep[]> {
  return followed(owner).where('steps.company_id', '=', companyId).where('steps.dispatch_id', '=', dispatchId).where('service', 'in',
    deliveryServices).where('delivery_settled', '=', false).orderBy('position', 'desc').execute()
}

/**
 * One step, if it is accepted, may still change, and was last polled at this time (null: never). Times are compared in milliseconds,
 * because a Date has no finer ones.
 */
export async function findTrackedStep ({ owner }: Database, { stepId, polledAt }: DuePoll): Promise<TrackedStep | undefined> {
  return followed(owner).where('step_id', '=', stepId).where('delivery_settled', '=', false).where(
    sql`date_trunc('milliseconds', polled_at)`,
    'is not distinct from',
    polledAt
  ).executeTakeFirst()
}

/** What a vendor answered about a step, and the delivery status that its word means. */
export type DeliveryReport = { reported: Reported, status: DeliveryStatus | null }

/** Notes what the vendor answered about a step (undefined: nothing), and that it was asked. */
export async function applyPoll (
  { owner, now }: Database,
  step: TrackedStep,
  report: DeliveryReport | undefined,
  moved: OnStatusChange
): Promise<void> {
  await owner.transaction().execute((queries) => noteReport(queries, step, report, { moved, now }))
}

/** Whether the vendor has been asked about a step since then. */
export async function wasPolledSince ({ owner }: Database, stepId: string, since: Date): Promise<boolean> {
  const step = await owner.selectFrom('steps').select('step_id').where('step_id', '=', stepId).where('polled_at', '>=', since)
    .executeTakeFirst()
  return step !== undefined
}

/**
 * Notes that the vendor was asked about a step. Its word and what it says beside stand in the step's response from then on, and in the
 * timeline where the word is a new one or moves the step.
 */
export async function noteReport (
  queries: OwnerQueries,
  step: TrackedStep,
  report: DeliveryReport | undefined,
  { moved, now }: { moved: OnStatusChange, now: SqlTimestamp }
): Promise<void> {
  // The id under which the step is asked after stays what it is.
  const { rows: [before] } = await sql<{ word: string | null, status: string | null, said: JsonObject }>`
    with before as (
      select step_id, response->>'status' as word, delivery_status as status, ${JSON.stringify(report?.reported ?? {})}::jsonb - 'id' as
        told from steps where step_id = ${step.stepId} for update
    )
    update steps set polled_at = ${now}, response = response || told from before where steps.step_id = before.step_id
      returning word, before.status, told - 'status' as said`.execute(queries)
  if (before === undefined || report === undefined) return
  const { reported: { status: type }, status } = report
  const moves = status !== null && canTransition(step.service, before.status, status)
  if (moves || type !== before.word) {
    await moveStep(queries, step, {
      kind: 'polled',
      status,
      facts: { ...before.said, type },
      actor: { kind: 'provider', code: step.providerCode }
    }, moved, now)
  }
}

/**
 * Changes the status of a step where the rules allow it, and notes why it has it. The timeline says what was reported and whether it
 * changed anything.
 */
export async function moveStep (
  queries: OwnerQueries,
  step: TrackedStep,
  { kind, status, facts, actor }: DeliveryUpdate,
  moved: OnStatusChange,
  now: SqlTimestamp
): Promise<void> {
  const { companyId, dispatchId, stepId, service } = step
  const reason = typeof facts['reason'] === 'string' ? facts['reason'] : null
  const { rows: [event] } = await sql<{ changed: boolean }>`
    with before as (
      select step_id, delivery_status, ${status}::text is not null and (delivery_status is null
        or delivery_status = any (${originsOf(service, status)})) as changes from steps where step_id = ${stepId} for update
    ), moved as (
      update steps set delivery_status = ${status}, delivery_settled = ${isFinalDeliveryStatus(service, status)},
        delivery_reason = case when changes then ${reason} else coalesce(delivery_reason, ${reason}) end
      from before where steps.step_id = before.step_id
        and (changes or before.delivery_status = ${status} and ${reason}::text is not null)
    )
    insert into events (company_id, dispatch_id, step_id, kind, actor, at, facts)
    select ${companyId}, ${dispatchId}, ${stepId}, ${kind}, ${JSON.stringify(actor)}, ${now},
      ${JSON.stringify({ ...facts, status: status ?? 'unknown' })}::jsonb || jsonb_strip_nulls(jsonb_build_object('before',
        before.delivery_status, 'changed', changes,
        'message', case when changes then ${(status === null ? undefined : refusalOf(service, status)) ?? null}::text end))
    from before returning (facts->>'changed')::boolean as changed`.execute(queries)
  if (event?.changed === true && status !== null) await moved(queries, step, status, facts)
}

/** Notes a mark of a step once for each recipient: a mail that is opened often is one entry of the timeline, and one callback. */
export async function markStep (
  queries: OwnerQueries,
  step: TrackedStep,
  { kind, mark, facts, actor }: DeliveryUpdate,
  moved: OnStatusChange,
  now: SqlTimestamp
): Promise<void> {
  const { companyId, dispatchId, stepId } = step
  if (mark === undefined) return
  const { rows: [event] } = await sql<{ new: boolean }>`
    with locked as (
      select step_id from steps where step_id = ${stepId} for update
    ), noted as (
      insert into events (company_id, dispatch_id, step_id, kind, actor, at, facts)
      select ${companyId}, ${dispatchId}, step_id, ${kind}, ${JSON.stringify(actor)}, ${now}, ${
    JSON.stringify({
      ...facts,
      status: mark,
      changed: false
    })
  }::jsonb
      from locked where not exists (select from events where events.dispatch_id = ${dispatchId} and events.step_id = locked.step_id
        and events.facts->>'status' = ${mark} and events.facts->>'recipient' is not distinct from ${facts['recipient'] ?? null}::text)
      returning step_id
    ), marked as (
      update steps set marks = array_append(marks, ${mark}) from noted
      where steps.step_id = noted.step_id and (marks is null or ${mark} <> all (marks))
    )
    select true as new from noted`.execute(queries)
  if (event !== undefined) await moved(queries, step, mark, facts)
}

/**
 * When the steps of a provider are polled. The first time: accepted before `since`. Again: last polled before `again`. Never: accepted
 * before `until`.
 */
export type PollWindow = { service: DeliveryService, providerCode: string, since: Date, again: Date, until: Date }

/** A step to poll, and when it was last polled. */
export type DuePoll = { stepId: string, polledAt: Date | null }

/** As literals: the index of followed steps has those of the services that it was made for. */
const polled = sql.join(deliveryServices.map((service) => sql.lit(service)))

/** The steps of a provider whose poll is due, the longest waiting first. */
export async function listDuePolls ({ owner }: Database, { service, providerCode, since, again, until }: PollWindow): Promise<DuePoll[]> {
  const { rows } = await sql<DuePoll>`
    select steps.step_id as "stepId", polled_at as "polledAt" from steps, lateral (select max(answered_at) as accepted_at from attempts
      where attempts.step_id = steps.step_id) attempt
    where provider_code = ${providerCode} and service = ${service} and service in (${polled})
      and status = 'accepted' and not delivery_settled and remote_id is not null
      and accepted_at > ${until} and case when polled_at is null then accepted_at < ${since} else polled_at < ${again} end
    order by coalesce(polled_at, accepted_at) limit 1000`.execute(owner)
  return rows
}
