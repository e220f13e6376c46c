import type { Log } from '@dispatch/common'
import { type Queue, runEvery } from '@dispatch/queue'
import { sendCreditWarnings } from './credit-warnings.ts'
import { callbackLimits, type Delivery } from './delivery.ts'

/** Milliseconds between two looks for callbacks whose jobs were lost, and for companies that are to be warned of low credits. */
const [sweptEvery, warnedEvery] = [300_000, 5_000]

type Needs =
  & Parameters<typeof sendCreditWarnings>[0]
  & {
    delivery: Delivery
    queue: Queue
    log: Log
  }

/** Sends callbacks as their jobs come, and warns companies whose credits have become low. The queue is closed by its owner. */
export async function workOnCallbacks ({ database, delivery, log, newId, now, queue }: Needs): Promise<
  AsyncDisposable
> {
  await queue.work('callback', delivery.deliver, callbackLimits.atOnce)
  const failed = (err: unknown): void => {
    log.warn({ err }, 'callbacks whose jobs were lost were not looked for; the next look follows')
  }
  const sweeping = runEvery(sweptEvery, delivery.sweep, failed)
  const warning = runEvery(warnedEvery, () => sendCreditWarnings({ database, newId, now, queue }), (err) => {
    log.warn({ err }, 'companies could not be warned of low credits; the next look follows')
  })
  return {
    async [Symbol.asyncDispose] () {
      await Promise.all([sweeping.close(), warning.close()])
    }
  }
}
