import type { Log } from '@dispatch/common'
import { runEvery } from '@dispatch/queue'
import { startDispatchWorker } from './dispatch-worker.ts'
import { createInboundHandler } from './inbox/inbound.ts'
import type { Inbox } from './inbox/inbox.ts'
import { createRetention, type RetentionOptions } from './retention.ts'
import { createPollHandler, createPollSweep } from './status/poll.ts'

/** The background work of this process. */
export type Worker = {
  /** Stops reading from the disk. Resolves when no event is being written. The queue is closed by its owner. */
  close: () => Promise<void>
}

/** Milliseconds between two tries to move events from the disk into the database. */
const drainPause = 1_000

type Options =
  & Parameters<typeof createInboundHandler>[0]
  & RetentionOptions
  & Pick<Parameters<typeof startDispatchWorker>[0], 'dependencies' | 'pipeline' | 'atOnce'>
  & { inbox: Inbox, notices: { mail: () => Promise<void> }, log: Log }

/** Starts the handlers of the queue and the tasks that repeat. */
export async function startWorker (options: Options): Promise<Worker> {
  const { queue, inbox, notices, log } = options
  const sweep = createPollSweep(options)
  await queue.work('webhook', createInboundHandler(options), 4)
  await queue.work('poll', createPollHandler(options), 4)
  await queue.work('sweep', async () => {
    await Promise.all([sweep(), notices.mail()])
  }, 1)
  await queue.schedule('sweep', '*/5 * * * *')
  await queue.work('retention', createRetention(options), 1)
  await queue.schedule('retention', '17 3 * * *')
  const dispatching = await startDispatchWorker(options)

  const draining = runEvery(drainPause, inbox.drain, (error) => log.debug({ err: error }, 'events stay on the disk'))
  await draining.first
  return {
    async close () {
      await Promise.all([draining.close(), dispatching.close()])
      await inbox.settle()
    }
  }
}
