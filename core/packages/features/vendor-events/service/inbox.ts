import { createBatcher, type Log, withTimeLimit } from '@dispatch/common'
import { type Database, DatabaseUnavailable } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { Queue } from '@dispatch/queue'
import { type EnqueueInbound, type InboundEvent, recordInbound } from '../store/inbound.ts'
import { eventBatchLimits, type EventSpool } from './event-spool.ts'

/** Keeps events: in the database, or on the disk while the database does not take them. */
export type Inbox = {
  /** Resolves when the event is kept. Answers false when too many unverified events are on the disk. */
  put: (arrival: InboundEvent) => Promise<boolean>
  /** Moves the events on the disk into the database. Rejects while that is away, and where the disk cannot be read. */
  drain: () => Promise<void>
  /** Resolves when nothing is being written. */
  settle: () => Promise<void>
}

export const inbox = token<Inbox>('inbox')

/** The most events that wait for the database; further ones go to the disk at once. */
const maxWaiting = 2_000
/** The most unverified events that are kept on the disk. */
const maxParked = 1_000
/** Milliseconds for which an event waits for the database before it goes to the disk. */
const storingLimit = 400

/** Adds the job that handles each recorded event. */
export function enqueueInbound (queue: Queue, after?: number): EnqueueInbound {
  return (queries, inboundIds) =>
    queue.send('webhook',
      inboundIds.map((inboundId) => ({ data: { inboundId }, key: inboundId, ...(after === undefined ? {} : { after }) })), queries)
}

/**
 * Keeps the events of vendors: in the database in batches, or on the disk while the database takes none. Keeping one throws where neither
 * takes it.
 */
export function createInbox ({ database, queue, spool, log }: { database: Database, queue: Queue, spool: EventSpool, log: Log }): Inbox {
  const batcher = createBatcher<InboundEvent, undefined>(record, { bytesOf: ({ body }) => body.byteLength, ...eventBatchLimits })
  /** Whether the database has just failed: the next drain tries it again, not every event. */
  let away = false
  /** Whether the last drain found no disk. */
  let withoutDisk = false
  let parked = 0

  async function record (arrivals: readonly InboundEvent[]): Promise<void> {
    const recorded = new Set(await recordInbound(database, arrivals, enqueueInbound(queue)))
    const dropped = arrivals.filter(({ inboundId, parked: waits }) => waits !== null && !recorded.has(inboundId)).length
    if (dropped > 0) log.warn({ dropped }, 'unverified events were dropped: too many are waiting')
  }

  function goAway (error: unknown): void {
    if (!away) log.warn({ err: error }, 'the database does not take events: they go to the disk')
    away = true
  }

  /** Nothing is known of the database then: events go there, for they have no other place. */
  function diskFailed (error: unknown): void {
    if (!withoutDisk) log.error({ err: error }, 'the disk takes no events: those that come while the database is away are lost')
    withoutDisk = true
    away = false
  }

  async function toDatabase (arrival: InboundEvent): Promise<boolean> {
    if (away || batcher.pending() >= maxWaiting) return false
    try {
      await withTimeLimit(storingLimit, batcher.put(arrival))
      return true
    } catch (error) {
      goAway(error)
      return false
    }
  }

  return {
    async put (arrival) {
      if (await toDatabase(arrival)) return true
      if (arrival.parked !== null && ++parked > maxParked) return false
      await spool.put(arrival)
      return true
    },
    async drain () {
      // Without events on the disk this proves nothing about the database: then the next event tries it.
      try {
        await spool.drain(record)
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) diskFailed(error)
        throw error
      }
      withoutDisk = false
      away = false
      parked = 0
    },
    settle: batcher.drain
  }
}
