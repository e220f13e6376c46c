import type { Envelope, JsonObject } from '@dispatch/common'
import type { DeliveryService } from '@dispatch/contract'
import { type OwnedConfiguration, ownedConfiguration, type Owner } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import { columns, type InboundState, type Tables } from '@dispatch/tables'
import { type Selectable, sql } from 'kysely'
import { hash } from 'node:crypto'

/** An event of a vendor as it was received. */
export type InboundEvent = {
  inboundId: string
  service: DeliveryService
  providerCode: string
  /** The configuration whose address it was sent to. */
  account: string | null
  /** It may concern the dispatches of this owner; null: of every company. */
  scope: Owner | null
  /** True: it may concern dispatches of the vendor's test environment only; false: of its real one only; null: of both. */
  sandbox: boolean | null
  /** What the check of its signature needs, sealed; null where the signature was checked. */
  parked: Envelope | null
  body: Uint8Array
  /** What it is known by when it comes again, SHA-256 in hexadecimal: by default that of the body. */
  digest?: string
  receivedAt: Date
}

export type InboundRow = Selectable<Tables['inbound']>

/** Adds jobs for events to the queue, inside the transaction that records them. */
export type EnqueueInbound = (queries: OwnerQueries, inboundIds: readonly string[]) => Promise<void>

/** How many unverified events are kept at most. */
const maxParked = 1_000

/**
 * Records events together with the jobs that handle them, all in one transaction. It leaves out events that are recorded already (with the
 * same id, or verified and with the same body), and parked ones beyond the limit. Answers the ids of those that it recorded.
 */
export async function recordInbound ({ owner }: Database, arrivals: readonly InboundEvent[], enqueue: EnqueueInbound): Promise<string[]> {
  const rows = JSON.stringify(arrivals.map(rowOf))
  return owner.transaction().execute(async (queries) => {
    const { rows: recorded } = await sql<{ inbound_id: string }>`
      insert into inbound (inbound_id, service, provider_code, account, company_id, user_id, sandbox, parked, digest, body, received_at,
        state)
      select inbound_id, service, provider_code, account, company_id, user_id, sandbox, parked, digest, decode(body, 'base64'), received_at,
        'waiting'
      from jsonb_to_recordset(${rows}) as arrival (inbound_id uuid, service text, provider_code text, account uuid, company_id integer,
        user_id integer,
        sandbox boolean, parked jsonb, digest text, body text, received_at timestamptz, rank integer)
      where parked is null or rank < ${maxParked} - (select count(*) from inbound where parked is not null)
      on conflict do nothing returning inbound_id`.execute(queries)
    const ids = recorded.map((row) => row.inbound_id)
    if (ids.length > 0) await enqueue(queries, ids)
    return ids
  })
}

function rowOf (
  { inboundId, service, providerCode, account, scope, sandbox, parked, body, digest = digestOf(body), receivedAt }: InboundEvent,
  rank: number
): Record<string, unknown> {
  return {
    inbound_id: inboundId,
    service,
    provider_code: providerCode,
    account,
    company_id: scope?.companyId,
    user_id: scope?.userId,
    sandbox,
    parked: parked ?? undefined,
    digest: parked === null ? digest : undefined,
    body: Buffer.from(body).toString('base64'),
    received_at: receivedAt,
    rank
  }
}

function digestOf (body: Uint8Array): string {
  return hash('sha256', body)
}

/** An event that is not handled yet, or undefined. */
export async function findOpenInbound ({ owner }: Database, inboundId: string): Promise<InboundRow | undefined> {
  return owner.selectFrom('inbound').select(columns.inbound).where('inbound_id', '=', inboundId).where('state', 'in', ['waiting', 'held'])
    .executeTakeFirst()
}

/** Marks a parked event as verified. Deletes it and answers false where the same event has been verified before. */
export async function admitParked (
  { owner }: Database,
  { inbound_id: inboundId, body, service, provider_code: providerCode, account }: InboundRow,
  { scope, sandbox, digest = digestOf(body) }: Pick<InboundEvent, 'scope' | 'sandbox' | 'digest'>
): Promise<boolean> {
  return owner.transaction().execute(async (queries) => {
    // Two events with the same body may be verified at once: the lock makes the second one see the first.
    await sql`select pg_advisory_xact_lock(hashtextextended(${digest}, 0))`.execute(queries)
    const same = await queries.selectFrom('inbound').select('inbound_id').where('digest', '=', digest).where('service', '=', service)
      .where('provider_code', '=', providerCode).where('account', 'is not distinct from', account).executeTakeFirst()
    if (same !== undefined) await queries.deleteFrom('inbound').where('inbound_id', '=', inboundId).execute()
    else {await queries.updateTable('inbound').set({
        parked: null,
        digest,
        company_id: scope?.companyId ?? null,
        user_id: scope?.userId ?? null,
        sandbox
      }).where('inbound_id', '=', inboundId).execute()}
    return same === undefined
  })
}

/** Deletes a parked event: it did not come from the vendor, or it could not be checked in time. */
export async function forgetParked ({ owner }: Database, inboundId: string): Promise<void> {
  await owner.deleteFrom('inbound').where('inbound_id', '=', inboundId).where('parked', 'is not', null).execute()
}

/** Records that the work on an event has ended, and why. */
export async function closeInbound (
  { owner, now }: Database,
  inboundId: string,
  { state, note }: { state: Exclude<InboundState, 'waiting' | 'held'>, note?: string }
): Promise<void> {
  await owner.updateTable('inbound').set({ state, note: note ?? null, handled_at: now }).where('inbound_id', '=', inboundId).where('state',
    'in', [
    'waiting',
    'held'
  ]).execute()
}

/**
 * Takes a body with several events apart: each becomes an event of its own, with its reading and its job, all in one transaction. They are
 * known by their place in the body.
 */
export async function splitInbound (
  { owner, now }: Database,
  { inbound_id: inboundId }: Pick<InboundRow, 'inbound_id'>,
  parts: readonly { inboundId: string, reading: JsonObject }[],
  enqueue: EnqueueInbound
): Promise<void> {
  const rows = JSON.stringify(
    parts.map((part, index) => ({ inbound_id: part.inboundId, reading: part.reading, digest: hash('sha256', `${inboundId} ${index}`) }))
  )
  await owner.transaction().execute(async (queries) => {
    const { rows: made } = await sql<{ inbound_id: string }>`
      with whole as (
        update inbound set state = 'applied', note = ${`${parts.length} events`}, handled_at = ${now}
        where inbound_id = ${inboundId} and state in ('waiting', 'held')
        returning service, provider_code, account, company_id, user_id, sandbox, received_at
      )
      insert into inbound (inbound_id, service, provider_code, account, company_id, user_id, sandbox, digest, body, reading, received_at, state)
      select part.inbound_id, service, provider_code, account, company_id, user_id, sandbox, part.digest, '', part.reading, received_at,
        'waiting'
      from whole, jsonb_to_recordset(${rows}) as part (inbound_id uuid, reading jsonb, digest text)
      on conflict do nothing returning inbound_id`.execute(queries)
    if (made.length > 0) await enqueue(queries, made.map((row) => row.inbound_id))
  })
}

/** Records that an event is tried again, and why, together with its job. */
export async function holdInbound ({ owner }: Database, inboundId: string, note: string, enqueue: EnqueueInbound): Promise<void> {
  await owner.transaction().execute(async (queries) => {
    await queries.updateTable('inbound').set({ state: 'held', note }).where('inbound_id', '=', inboundId).where('state', 'in', [
      'waiting',
      'held'
    ]).execute()
    await enqueue(queries, [inboundId])
  })
}

/** Open events that were received before `before` and have no job: it was lost. The oldest first. */
export async function listStranded ({ owner }: Database, before: Date): Promise<string[]> {
  const { rows } = await sql<{ inbound_id: string }>`
    select inbound_id from inbound where state in ('waiting', 'held') and received_at < ${before}
      and not exists (select from queue.job where name = 'webhook' and state <= 'active' and singleton_key = inbound.inbound_id::text)
    order by received_at, inbound_id limit 1000`.execute(owner)
  return rows.map((row) => row.inbound_id)
}

/** The configuration that belongs to a webhook address. Its secrets are sealed. */
export type WebhookAccount = OwnedConfiguration

/** The configuration of a provider with this opaque name, or undefined. */
export async function findWebhookAccount ({ owner }: Database, account: string): Promise<WebhookAccount | undefined> {
  const row = await owner.selectFrom('configurations').select(columns.configurations).where('account', '=', account).executeTakeFirst()
  return row && ownedConfiguration(row)
}
