import { type Actor, type AuditAuthor, requireRole } from '@dispatch/accounts'
import type { Database } from '@dispatch/database'
import type { Breakers } from '@dispatch/host'
import type { Queue } from '@dispatch/queue'
import { userActorOf } from '../pipeline/run/run.ts'
import { type Released, releaseDispatches, type ReleaseFilter, releaseSteps } from '../store/dispatch/releases.ts'

/** The most items of a kind in one query, and in one request. */
const [together, max] = [500, 50_000]

/**
 * Lets what waits for a retry of a provider go on at once, after an outage of its vendor: an admin for the company, an operator for all
 * companies. Answers how many dispatches, deferred steps and steps for remaining recipients go on.
 */
export type ReleaseQueue = (what: Omit<ReleaseFilter, 'companyId'>, by: { actor: Actor, author: AuditAuthor }) => Promise<number>

type Options = { database: Database, queue: Pick<Queue, 'jobs'>, breakers: Pick<Breakers, 'close'>, now: () => Date }

/** Lets what waits be tried at once, after it has closed the breakers. Throws `forbidden` for others than admins and operators. */
export function createReleaseQueue ({ database, queue, breakers, now }: Options): ReleaseQueue {
  return async (what, { actor, author }) => {
    requireRole(actor, 'admin', 'operator')
    const release = { ...what, companyId: actor.role === 'operator' ? null : actor.companyId }
    // Closed first, or the breaker would stop what is released.
    breakers.close(release)
    const by = { author, actor: userActorOf(actor), limit: together, at: now() }
    // The delayed jobs keep their keys, so these need other ones. The delayed jobs will find nothing to do.
    const dispatches = await all(() =>
      releaseDispatches(database, release, {
        ...by,
        jobs: (waiting) => queue.jobs('dispatch', waiting.map((data) => ({ data, key: `${data.dispatchId} released` })))
      })
    )
    const beside = await all(() =>
      releaseSteps(database, release, {
        ...by,
        jobs: (waiting) => queue.jobs('deferred', waiting.map((data) => ({ data, key: `${data.stepId} released` })))
      })
    )
    return dispatches + beside
  }
}

/** Releases until nothing is left, up to the limit of one request. */
async function all (releaseSome: () => Promise<Released>): Promise<number> {
  let [total, more] = [0, true]
  while (more && total < max) {
    const released = await releaseSome()
    total += released.count
    more = released.more
  }
  return total
}
