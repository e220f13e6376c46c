import type { Database } from '@dispatch/database'
import type { Queue } from '@dispatch/queue'
import { listDueCreditWarnings, recordCreditWarning } from '../store/credit-warnings.ts'
import { callbackJob } from './delivery.ts'

/** The most companies that one sweep warns. */
const maxCompanies = 100

type Options = { database: Database, queue: Pick<Queue, 'send'>, now: () => Date, newId: () => string }

/** Warns companies whose credits have become low, once each time, in whichever process comes first. */
export async function sendCreditWarnings ({ database, queue, now, newId }: Options): Promise<void> {
  for (const companyId of await listDueCreditWarnings(database, maxCompanies)) {
    const { callbackId, endpointCallbackIds } = await recordCreditWarning(database, companyId, { now: now(), newId })
    // If a job is lost, the sweep of callbacks finds the warning and queues it again.
    await queue.send('callback', [
      ...(callbackId === null ? [] : [callbackJob({ companyId, toEndpoint: false }, callbackId)]),
      ...endpointCallbackIds.map((id) => callbackJob({ companyId, toEndpoint: true }, id))
    ])
  }
}
