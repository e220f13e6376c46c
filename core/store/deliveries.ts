import { sql, type Kysely } from 'kysely'
import { isSettled, mayMove, originsOf, type DeliveryService, type DeliveryStatus, type FollowedService } from '../contract/delivery.ts'
import type { JsonObject } from '../contract/json.ts'
import type { ConfiguredBy } from '../contract/states.ts'
import type { Reported } from '../host/definition.ts'
import type { Owner } from './configurations.ts'
import type { Database, OwnerQueries } from './database.ts'
import type { EventActor, InboundState, Tables } from './schema.ts'

/** An accepted step whose vendor tells what became of it. */
export type FollowedStep<Service extends FollowedService = FollowedService> = {
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

/** What is to be done in the same transaction when a step has moved. */
export type Moved = (queries: OwnerQueries, step: FollowedStep<DeliveryService>, status: DeliveryStatus) => Promise<void>

/** What was learnt about a step. `status` null: the vendor's word is not known to the provider. */
export type Delivery = { kind: 'webhook' | 'polled', status: DeliveryStatus | null, facts: JsonObject, actor: EventActor }

function followed<Service extends FollowedService> (queries: Kysely<Tables>) {
  return queries.selectFrom('steps').innerJoin('dispatches', 'dispatches.dispatch_id', 'steps.dispatch_id')
    .select((row) => [
      'step_id as stepId', 'steps.dispatch_id as dispatchId', 'steps.company_id as companyId', 'user_id as userId', row.ref('service').$castTo<Service>().as('service'),
      row.ref('provider_code').$castTo<string>().as('providerCode'), row.ref('configured_by').$castTo<ConfiguredBy>().as('configuredBy'), 'sandbox', row.ref('remote_id').$castTo<string>().as('remoteId')
    ])
    .where('steps.status', '=', 'accepted').where('remote_id', 'is not', null)
}

/** The steps that a vendor's id means: those of one owner, or of every company that uses the provider. */
export async function matchSteps ({ owner }: Database, { service, providerCode, remoteId, scope }: { service: DeliveryService, providerCode: string, remoteId: string, scope: Owner | null }): Promise<FollowedStep<DeliveryService>[]> {
  const all = followed<DeliveryService>(owner).where('provider_code', '=', providerCode).where('remote_id', '=', remoteId).where('service', '=', service)
  if (scope === null) return all.limit(100).execute()
  const own = all.where('steps.company_id', '=', scope.companyId).limit(100)
  return (scope.userId === null ? own.where('configured_by', '=', 'company') : own.where('configured_by', '=', 'user').where('user_id', '=', scope.userId)).execute()
}

/** One followed step, if it is accepted, not settled, and was last asked after then (null: never). */
export async function findFollowed ({ owner }: Database, { stepId, polledAt }: DueStep): Promise<FollowedStep | undefined> {
  return followed<FollowedService>(owner).where('step_id', '=', stepId).where('delivery_settled', '=', false).where('polled_at', 'is not distinct from', polledAt).executeTakeFirst()
}

/**
 * Notes in the timelines of steps what an event says, moves their status where it may move, and closes the event, all in
 * one transaction: an event has its effect once. Answers false when it was handled before, by itself or under its event id;
 * rejects when another one with that id is being handled at this moment.
 */
export async function applyInbound ({ owner }: Database, { inboundId, eventId, steps, delivery, moved }: { inboundId: string, eventId?: string, steps: readonly FollowedStep<DeliveryService>[], delivery: Delivery, moved: Moved }, now: Date): Promise<boolean> {
  return owner.transaction().execute(async (queries) => {
    const { rows: [event] } = await sql<{ state: InboundState }>`
      update inbound set (state, event_id) = (select case when taken then 'duplicate' else 'applied' end, case when taken then null else ${eventId ?? null}::text end
        from (select exists (select from inbound as other where other.service = inbound.service and other.provider_code = inbound.provider_code
          and other.account is not distinct from inbound.account and other.event_id = ${eventId ?? null}::text) as taken) as others), note = null, handled_at = ${now}
      where inbound_id = ${inboundId} and state in ('waiting', 'held') returning state`.execute(queries)
    const isNew = event?.state === 'applied'
    if (isNew) for (const step of steps) await moveStep(queries, step, delivery, moved, now)
    return isNew
  })
}

/** Notes what the vendor answered about a step, if that moves it. */
export async function applyPoll ({ owner }: Database, step: FollowedStep<DeliveryService>, delivery: Delivery, moved: Moved, now: Date): Promise<void> {
  await owner.transaction().execute(async (queries) => {
    const { delivery_status: from } = await queries.updateTable('steps').set({ polled_at: now }).where('step_id', '=', step.stepId).returning('delivery_status').executeTakeFirstOrThrow()
    if (delivery.status !== null && mayMove(step.service, from, delivery.status)) await moveStep(queries, step, delivery, moved, now)
  })
}

/** Moves a step where it may move, and notes in its timeline what was learnt and whether it changed anything. */
async function moveStep (queries: OwnerQueries, step: FollowedStep<DeliveryService>, { kind, status, facts, actor }: Delivery, moved: Moved, now: Date): Promise<void> {
  const { companyId, dispatchId, stepId, service } = step
  const { rows: [event] } = await sql<{ changed: boolean }>`
    with before as (
      select step_id, delivery_status from steps where step_id = ${stepId} for update
    ), moved as (
      update steps set delivery_status = ${status}, delivery_settled = ${isSettled(service, status)} from before
      where steps.step_id = before.step_id and ${status}::text is not null and (before.delivery_status is null or before.delivery_status = any (${originsOf(service, status)})) returning 1
    )
    insert into events (company_id, dispatch_id, step_id, kind, actor, at, facts)
    select ${companyId}, ${dispatchId}, ${stepId}, ${kind}, ${JSON.stringify(actor)}, ${now},
      ${JSON.stringify({ ...facts, status: status ?? 'unknown' })}::jsonb || jsonb_strip_nulls(jsonb_build_object('before', before.delivery_status, 'changed', exists (select from moved)))
    from before returning (facts->>'changed')::boolean as changed`.execute(queries)
  if (event?.changed === true && status !== null) await moved(queries, step, status)
}

/** What a vendor answered about a step in words of its own; without `reported` it said nothing. `settled`: nothing more is asked. */
export type Report = { actor: EventActor, reported?: Reported, settled?: boolean }

/** Notes what the vendor answered about a step: its word and what it says beside stand in the step's response from then on, and in the timeline when the word is a new one. */
export async function applyReport ({ owner }: Database, { companyId, dispatchId, stepId }: FollowedStep, { actor, reported, settled = false }: Report, now: Date): Promise<void> {
  // The id under which the step is asked after stays what it is.
  const told = sql`(${JSON.stringify(reported ?? {})}::jsonb - 'id')`
  await sql`
    with before as (
      select step_id, response->>'status' as word from steps where step_id = ${stepId} for update
    ), step as (
      update steps set polled_at = ${now}, delivery_settled = ${settled}, response = response || ${told} from before where steps.step_id = before.step_id
    )
    insert into events (company_id, dispatch_id, step_id, kind, actor, at, facts)
    select ${companyId}, ${dispatchId}, ${stepId}, 'polled', ${JSON.stringify(actor)}, ${now}, ${told} || jsonb_build_object('before', word)
    from before where word is distinct from ${reported?.status ?? null}::text and ${reported !== undefined}`.execute(owner)
}

/** When steps of a provider are asked after: those accepted before `since` for the first time, those asked before `again` once more, none accepted before `until`. */
export type Due = { service: FollowedService, providerCode: string, since: Date, again: Date, until: Date }

/** A step that is to be asked after, and when it was last. */
export type DueStep = { stepId: string, polledAt: Date | null }

/** The followed steps of a provider that are due, the longest waiting first. */
export async function listDue ({ owner }: Database, { service, providerCode, since, again, until }: Due): Promise<DueStep[]> {
  const { rows } = await sql<DueStep>`
    select steps.step_id as "stepId", polled_at as "polledAt" from steps, lateral (select max(answered_at) as accepted_at from attempts where attempts.step_id = steps.step_id) attempt
    where provider_code = ${providerCode} and service = ${service} and service in ('esign', 'postal', 'invoicing') and status = 'accepted' and not delivery_settled and remote_id is not null
      and accepted_at > ${until} and case when polled_at is null then accepted_at < ${since} else polled_at < ${again} end
    order by coalesce(polled_at, accepted_at) limit 1000`.execute(owner)
  return rows
}
