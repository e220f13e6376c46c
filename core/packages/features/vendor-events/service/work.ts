import type { Log } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { before, type Queue, runEvery } from '@dispatch/queue'
import { listStranded } from '../store/inbound.ts'
import { createInboundHandler } from './inbound.ts'
import type { Inbox } from './inbox.ts'

/** Milliseconds between two tries to move events from the disk into the database, and between two looks for events without a job. */
const [drainedEvery, soughtEvery] = [1_000, 300_000]

/** Milliseconds after which an open event without a job has surely lost it. */
const strandedAfter = 2 * 3600 * 1000

/** Moves the events on the disk into the database, from now on. `first`: when that was tried once. */
export function drainInbox ({ inbox, log }: { inbox: Inbox, log: Log }): AsyncDisposable & { first: Promise<void> } {
  const draining = runEvery(drainedEvery, inbox.drain, (err) => {
    log.debug({ err }, 'events stay on the disk')
  })
  return {
    first: draining.first,
    async [Symbol.asyncDispose] () {
      await draining.close()
      await inbox.settle()
    }
  }
}

type Needs = Parameters<typeof createInboundHandler>[0] & { inbox: Inbox, queue: Queue, log: Log }

/** Handles events as their jobs come, and moves those on the disk into the database. The queue is closed by its owner. */
export async function workOnEvents (needs: Needs): Promise<AsyncDisposable> {
  const { database, inbox, queue, log } = needs
  await queue.work('webhook', createInboundHandler(needs), 4)
  const seeking = runEvery(soughtEvery, () => queueStranded({ database, queue }), (err) => {
    log.warn({ err }, 'events whose jobs were lost were not looked for; the next look follows')
  })
  const draining = drainInbox({ inbox, log })
  await draining.first
  return {
    async [Symbol.asyncDispose] () {
      await Promise.all([seeking.close(), draining[Symbol.asyncDispose]()])
    }
  }
}

/** Queues the events whose jobs were lost. One with a job that waits, runs or comes again is none of them. */
export async function queueStranded ({ database, queue }: { database: Database, queue: Pick<Queue, 'send'> }): Promise<void> {
  const stranded = await listStranded(database, before(await database.time(), strandedAfter))
  await queue.send('webhook', stranded.map((inboundId) => ({ data: { inboundId }, key: inboundId })))
}
