import type { Actor } from '../access/account.ts'
import { requireRole } from '../access/permissions.ts'
import { userOf } from '../pipeline/run.ts'
import type { Author } from '../store/audit.ts'
import type { Database } from '../store/database.ts'
import { releaseWaiting, type EnqueueAll, type Release } from '../store/releases.ts'
import type { Queue } from './queue.ts'

/** How many dispatches one transaction takes, and how many one request. */
const [together, most] = [500, 50_000]

/** Lets dispatches that wait for another try of a provider go on at once, after its outage: an admin those of the company, an operator those of all. Answers how many. */
export type ReleaseQueue = (what: Omit<Release, 'companyId'>, by: { actor: Actor, author: Author }) => Promise<number>

export function createReleaseQueue ({ database, queue, now }: { database: Database, queue: Pick<Queue, 'send'>, now: () => Date }): ReleaseQueue {
  // The job of the planned time still waits under the usual key: it will find nothing left to do.
  const enqueue: EnqueueAll = (queries, released) => queue.send('dispatch', released.map((data) => ({ data, key: `${data.dispatchId} released` })), queries)
  return async (what, { actor, author }) => {
    requireRole(actor, 'admin', 'operator')
    const companyId = actor.role === 'operator' ? null : actor.companyId
    let total = 0
    let last = together
    while (last === together && total < most) {
      last = await releaseWaiting(database, { ...what, companyId }, { author, actor: userOf(actor), limit: together, at: now(), enqueue })
      total += last
    }
    return total
  }
}
