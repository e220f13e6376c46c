import type { Actor } from '../../access/account.ts'
import { requireRole } from '../../access/permissions.ts'
import type { Breakers } from '../../host/call/breaker.ts'
import { userActorOf } from '../../pipeline/run/run.ts'
import type { Database } from '../../store/db/database.ts'
import { type Released, releaseDispatches, type ReleaseFilter, releaseSteps } from '../../store/dispatch/releases.ts'
import type { AuditAuthor } from '../../store/tenants/audit.ts'
import type { Queue } from './queue.ts'

/** How many things of a kind are looked for at once, and how many one request takes. */
const [together, most] = [500, 50_000]

/**
 * Lets what waits for another try of a provider go on at once, after its outage: an admin that of the company, an operator that
 * of all. Answers how many dispatches, deferred steps and rests of e-mails these are.
 */
export type ReleaseQueue = (what: Omit<ReleaseFilter, 'companyId'>, by: { actor: Actor, author: AuditAuthor }) => Promise<number>

type Options = { database: Database, queue: Pick<Queue, 'jobs'>, breakers: Pick<Breakers, 'close'>, now: () => Date }

export function createReleaseQueue ({ database, queue, breakers, now }: Options): ReleaseQueue {
  return async (what, { actor, author }) => {
    requireRole(actor, 'admin', 'operator')
    const release = { ...what, companyId: actor.role === 'operator' ? null : actor.companyId }
    // Who says that the provider is back is believed, or the first of what goes on would be held back.
    breakers.close(release)
    const by = { author, actor: userActorOf(actor), limit: together, at: now() }
    // The jobs of the planned time still wait under the usual keys: they will find nothing left to do.
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

/** Releases until nothing is left, or as many as one request takes. */
async function all (releaseSome: () => Promise<Released>): Promise<number> {
  let [total, more] = [0, true]
  while (more && total < most) {
    const released = await releaseSome()
    total += released.count
    more = released.more
  }
  return total
}
