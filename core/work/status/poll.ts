import type { Log } from '@dispatch/common'
import { deliveryServices } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { Host } from '@dispatch/host'
import { before, type JobPayloads, type Queue } from '@dispatch/queue'
import { applyPoll, findTrackedStep, listDuePolls, type OnStatusChange, type PollWindow } from '../../store/vendor/deliveries.ts'
import type { StatusQuery } from './status-query.ts'

/** In seconds after the acceptance: `after`: the first query; `until`: the last one. `every`: between two. A manifest may differ. */
export const defaultPollSchedule = { after: 3600, every: 6 * 3600, until: 60 * 24 * 3600 }

type Options = { database: Database, host: Host, queue: Queue, statusQuery: StatusQuery, log: Log }

/** Queues the steps whose status is due. */
export function createPollSweep ({ database, host, queue }: Options): () => Promise<void> {
  return async () => {
    const time = await database.time()
    for (const due of followedBy(host, time)) {
      const steps = await listDuePolls(database, due)
      await queue.send('poll',
        steps.map(({ stepId, polledAt }) => ({ data: { stepId, polledAt: polledAt?.toISOString() ?? null }, key: stepId })))
    }
  }
}

/** The providers and services with statuses that can be asked, each with its due times. */
function followedBy (host: Host, time: Date): PollWindow[] {
  return host.entries().flatMap((entry) =>
    entry.state !== 'installed' ? [] : deliveryServices.flatMap((service) => {
      const offered = entry.manifest.services[service]
      if (offered?.statuses === undefined) return []
      const { after, every, until } = { ...defaultPollSchedule, ...offered.poll }
      return [{
        service,
        providerCode: entry.code,
        since: before(time, after * 1000),
        again: before(time, every * 1000),
        until: before(time, until * 1000)
      }]
    })
  )
}

/** Asks the vendor for the status of one step and records it, unless that was done since the job was made. */
export function createPollHandler ({ database, host, statusQuery, onStatusChange, log }: Options & {
  onStatusChange: OnStatusChange
}): (job: JobPayloads['poll']) => Promise<void> {
  return async ({ stepId, polledAt }) => {
    const step = await findTrackedStep(database, { stepId, polledAt: polledAt === null ? null : new Date(polledAt) })
    const provider = step && host.find(step.providerCode)
    if (step === undefined || provider === undefined) return
    const answer = await statusQuery(provider, step)
    if (!answer.ok) log.warn({ stepId, provider: provider.code, why: answer.why }, 'the status of a step could not be read')
    await applyPoll(database, step, answer.ok ? answer : undefined, onStatusChange)
  }
}
