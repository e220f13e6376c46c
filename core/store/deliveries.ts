import { sql, type Kysely } from 'kysely'
import { isSettled, mayMove, type DeliveryService, type DeliveryStatus } from '../contract/delivery.ts'
import type { JsonObject } from '../contract/json.ts'
import type { Owner } from './configurations.ts'
import type { Database, OwnerQueries } from './database.ts'
import type { EventActor, Tables } from './schema.ts'

/** An accepted step whose vendor tells what became of it. */
export type FollowedStep = {
  stepId: string
  dispatchId: string
  companyId: number
  userId: number
  service: DeliveryService
  providerCode: string
  configuredBy: 'user' | 'company'
  sandbox: boolean
  remoteId: string
}

/** What was learnt about a step. `status` null: the vendor's word is not known to the provider. */
export type Delivery = { kind: 'webhook' | 'polled', status: DeliveryStatus | null, facts: JsonObject, actor: EventActor }

function followed (queries: Kysely<Tables>) {
  return queries.selectFrom('steps').innerJoin('dispatches', 'dispatches.dispatch_id', 'steps.dispatch_id')
    .select((row) => [
      'step_id as stepId', 'steps.dispatch_id as dispatchId', 'steps.company_id as companyId', 'user_id as userId', row.ref('service').$castTo<DeliveryService>().as('service'),
      row.ref('provider_code').$castTo<string>().as('providerCode'), row.ref('configured_by').$castTo<'user' | 'company'>().as('configuredBy'), 'sandbox', row.ref('remote_id').$castTo<string>().as('remoteId')
    ])
    .where('steps.status', '=', 'accepted').where('remote_id', 'is not', null)
}

/** The steps that a vendor's id means: those of one owner, or of every company that uses the provider. */
export async function matchSteps ({ owner }: Database, { service, providerCode, remoteId, scope }: { service: DeliveryService, providerCode: string, remoteId: string, scope: Owner | null }): Promise<FollowedStep[]> {
  const all = followed(owner).where('provider_code', '=', providerCode).where('remote_id', '=', remoteId).where('service', '=', service)
  if (scope === null) return all.limit(100).execute()
  const own = all.where('steps.company_id', '=', scope.companyId).limit(100)
  return (scope.userId === null ? own.where('configured_by', '=', 'company') : own.where('configured_by', '=', 'user').where('user_id', '=', scope.userId)).execute()
}

/** One followed step, if it is accepted and not settled. */
export async function findFollowed ({ owner }: Database, stepId: string): Promise<FollowedStep | undefined> {
  return followed(owner).where('step_id', '=', stepId).where('delivery_settled', '=', false).executeTakeFirst()
}

/**
 * Notes in the timelines of steps what an event says, moves their status where it may move, and closes the event, all in
 * one transaction: an event has its effect once. Answers false when it was handled before, by itself or under its event id.
 */
export async function applyInbound ({ owner }: Database, { inboundId, eventId, steps, delivery }: { inboundId: string, eventId?: string, steps: readonly FollowedStep[], delivery: Delivery }, now: Date): Promise<boolean> {
  return owner.transaction().execute(async (queries) => {
    const event = await queries.selectFrom('inbound').select(['service', 'provider_code', 'account']).where('inbound_id', '=', inboundId).where('state', 'in', ['waiting', 'held']).forUpdate().executeTakeFirst()
    if (event === undefined) return false
    const isNew = eventId === undefined || await claimEventId(queries, { ...event, inboundId, eventId })
    await queries.updateTable('inbound').set({ state: isNew ? 'applied' : 'duplicate', note: null, handled_at: now }).where('inbound_id', '=', inboundId).execute()
    if (isNew) for (const step of steps) await moveStep(queries, step, delivery, now)
    return isNew
  })
}

/** Whether no other event of the vendor (and account) has the id. */
async function claimEventId (queries: OwnerQueries, { inboundId, eventId, service, provider_code: providerCode, account }: { inboundId: string, eventId: string, service: DeliveryService, provider_code: string, account: string | null }): Promise<boolean> {
  // Two events with the same id may be handled at once: the second one waits, and then sees the first.
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${service} ${providerCode} ${account ?? ''} ${eventId}`}, 0))`.execute(queries)
  const { numUpdatedRows } = await queries.updateTable('inbound').set({ event_id: eventId }).where('inbound_id', '=', inboundId)
    .where((where) => where.not(where.exists(where.selectFrom('inbound as other').select('other.inbound_id').where('other.service', '=', service)
      .where('other.provider_code', '=', providerCode).where('other.account', 'is not distinct from', account).where('other.event_id', '=', eventId))))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Notes what the vendor answered about a step, if that moves it. */
export async function applyPoll ({ owner }: Database, step: FollowedStep, delivery: Delivery, now: Date): Promise<void> {
  await owner.transaction().execute(async (queries) => {
    await queries.updateTable('steps').set({ polled_at: now }).where('step_id', '=', step.stepId).execute()
    const { delivery_status: from } = await lockStep(queries, step)
    if (delivery.status !== null && mayMove(step.service, from, delivery.status)) await moveStep(queries, step, delivery, now)
  })
}

async function lockStep (queries: OwnerQueries, { stepId }: FollowedStep): Promise<{ delivery_status: DeliveryStatus | null }> {
  return queries.selectFrom('steps').select('delivery_status').where('step_id', '=', stepId).forUpdate().executeTakeFirstOrThrow()
}

async function moveStep (queries: OwnerQueries, step: FollowedStep, { kind, status, facts, actor }: Delivery, now: Date): Promise<void> {
  const { companyId, dispatchId, stepId, service } = step
  const { delivery_status: from } = await lockStep(queries, step)
  const moves = status !== null && mayMove(service, from, status)
  if (moves) await queries.updateTable('steps').set({ delivery_status: status, delivery_settled: isSettled(service, status) }).where('step_id', '=', stepId).execute()
  await queries.insertInto('events').values({
    company_id: companyId, dispatch_id: dispatchId, step_id: stepId, kind, actor: JSON.stringify(actor), at: now,
    facts: JSON.stringify({ ...facts, status: status ?? 'unknown', ...(from === null ? {} : { before: from }), changed: moves })
  }).execute()
}

/** When steps of a provider are asked after: those accepted before `since` for the first time, those asked before `again` once more, none accepted before `until`. */
export type Due = { service: DeliveryService, providerCode: string, since: Date, again: Date, until: Date }

/** The followed steps of a provider that are due, the longest waiting first. */
export async function listDue ({ owner }: Database, { service, providerCode, since, again, until }: Due): Promise<string[]> {
  const { rows } = await sql<{ step_id: string }>`
    select steps.step_id from steps, lateral (select max(answered_at) as accepted_at from attempts where attempts.step_id = steps.step_id) attempt
    where provider_code = ${providerCode} and service = ${service} and service in ('esign', 'postal') and status = 'accepted' and not delivery_settled and remote_id is not null
      and accepted_at > ${until} and case when polled_at is null then accepted_at < ${since} else polled_at < ${again} end
    order by coalesce(polled_at, accepted_at) limit 1000`.execute(owner)
  return rows.map((row) => row.step_id)
}
