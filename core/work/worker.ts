import type { Log } from '@dispatch/common'
import { startDispatchWorker } from './dispatch-worker.ts'
import { createRetention, type RetentionOptions } from './retention.ts'
import { createPollHandler, createPollSweep } from './status/poll.ts'

/** The background work of this process. */
export type Worker = {
  /** Stops what repeats. The queue is closed by its owner. */
  close: () => Promise<void>
}

type Options =
  & Parameters<typeof createPollHandler>[0]
  & RetentionOptions
  & Pick<Parameters<typeof startDispatchWorker>[0], 'dependencies' | 'pipeline' | 'atOnce'>
  & { notices: { mail: () => Promise<void> }, log: Log }

/** Starts the handlers of the queue and the tasks that repeat. */
export async function startWorker (options: Options): Promise<Worker> {
  const { queue, notices } = options
  const sweep = createPollSweep(options)
  await queue.work('poll', createPollHandler(options), 4)
  await queue.work('sweep', async () => {
    await Promise.all([sweep(), notices.mail()])
  }, 1)
  await queue.schedule('sweep', '*/5 * * * *')
  await queue.work('retention', createRetention(options), 1)
  await queue.schedule('retention', '17 3 * * *')
  return startDispatchWorker(options)
}
