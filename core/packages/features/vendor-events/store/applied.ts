import { type DeliveryUpdate, markStep, moveStep, type OnReply, type OnStatusChange, type Reply, type TrackedStep } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import type { InboundState } from '@dispatch/tables'
import { sql } from 'kysely'

/**
 * Records in the timelines of steps what an event says, changes their status where the rules allow it, and closes the event, all in one
 * transaction: an event has its effect once. Answers false where it, or another one with its event id, was handled before. Rejects while
 * another one with that id is being handled.
 */
export async function applyInbound (
  { owner, now }: Database,
  { inboundId, eventId, steps, delivery, moved }: {
    inboundId: string
    eventId?: string
    steps: readonly TrackedStep[]
    delivery: DeliveryUpdate
    moved: OnStatusChange
  }
): Promise<boolean> {
  return owner.transaction().execute(async (queries) => {
    const isNew = await takeEvent(queries, { inboundId, eventId, now })
    const note = delivery.mark === undefined ? moveStep : markStep
    if (isNew) { for (const step of steps) await note(queries, step, delivery, moved, now) }
    return isNew
  })
}

/** Does what follows from the answer of a recipient, unless the event was handled before. */
export async function applyReply (
  { owner, now }: Database,
  { inboundId, eventId, reply, answered }: { inboundId: string, eventId?: string, reply: Reply, answered: OnReply }
): Promise<void> {
  await owner.transaction().execute(async (queries) => {
    if (await takeEvent(queries, { inboundId, eventId, now })) await answered(queries, reply)
  })
}

/** Marks an event as applied, or as the repeat of another one. Answers whether it is new. */
async function takeEvent (
  queries: OwnerQueries,
  { inboundId, eventId, now }: { inboundId: string, eventId: string | undefined, now: Database['now'] }
): Promise<boolean> {
  const { rows: [event] } = await sql<{ state: InboundState }>`
      update inbound set (state, event_id) = (select case when taken then 'duplicate' else 'applied' end, case when taken then null
        else ${eventId ?? null}::text end
        from (select exists (select from inbound as other where other.service = inbound.service
          and other.provider_code = inbound.provider_code
          and other.account is not distinct from inbound.account
            and other.event_id = ${eventId ?? null}::text) as taken) as others), note = null, handled_at = ${now}
      where inbound_id = ${inboundId} and state in ('waiting', 'held') returning state`.execute(queries)
  return event?.state === 'applied'
}
