import type { Log } from '@dispatch/common'
import { type Queue, runEvery } from '@dispatch/queue'
import type { Callbacks } from './callbacks.ts'
import { sendCreditWarnings } from './credit-warnings.ts'
import { callbackLimits } from './delivery.ts'
import type { EndpointCallbacks } from './endpoint-callbacks.ts'

/** Milliseconds between two looks for callbacks whose jobs were lost, and for companies that are to be warned of low credits. */
const [sweptEvery, warnedEvery] = [300_000, 5_000]

type Needs =
  & Parameters<typeof sendCreditWarnings>[0]
  & {
    callbacks: Pick<Callbacks, 'deliver' | 'sweep'>
    endpointCallbacks: Pick<EndpointCallbacks, 'deliver' | 'sweep'>
    queue: Queue
    log: Log
  }

/** Sends callbacks as their jobs come, and warns companies whose credits have become low. The queue is closed by its owner. */
export async function workOnCallbacks ({ callbacks, database, endpointCallbacks, log, newId, now, queue }: Needs): Promise<
  AsyncDisposable
> {
  await queue.work('callback', (job) => (job.endpoints === true ? endpointCallbacks : callbacks).deliver(job), callbackLimits.atOnce)
  const failed = (err: unknown): void => {
    log.warn({ err }, 'callbacks whose jobs were lost were not looked for; the next look follows')
  }
  const sweeping = runEvery(sweptEvery, async () => {
    await Promise.all([callbacks.sweep(), endpointCallbacks.sweep()])
  }, failed)
  const warning = runEvery(warnedEvery, () => sendCreditWarnings({ database, newId, now, queue }), (err) => {
    log.warn({ err }, 'companies could not be warned of low credits; the next look follows')
  })
  return {
    async [Symbol.asyncDispose] () {
      await Promise.all([sweeping.close(), warning.close()])
    }
  }
}
