import type { Database } from '../../store/db/database.ts'
import { listDueCreditWarnings, recordCreditWarning } from '../../store/vendor/credit-warnings.ts'
import type { Queue } from '../queue/queue.ts'
import { callbackJob } from './callbacks.ts'

/** How many companies one look tells. */
const most = 100

type Options = { database: Database, queue: Pick<Queue, 'send'>, now: () => Date, newId: () => string }

/** Tells companies whose credits have become low: once for each time, whichever process gets to it. */
export async function sendCreditWarnings ({ database, queue, now, newId }: Options): Promise<void> {
  for (const companyId of await listDueCreditWarnings(database, most)) {
    const callbackId = await recordCreditWarning(database, companyId, { now: now(), newId })
    // If this job is lost, the sweep of callbacks finds the warning and queues it again.
    if (callbackId !== undefined) await queue.send('callback', [callbackJob(companyId, callbackId)])
  }
}
