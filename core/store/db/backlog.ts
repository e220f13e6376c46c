import { sql } from 'kysely'
import type { Database } from './database.ts'

/**
 * Jobs of a kind: those that could be taken now, that come later, that are worked on, that come again after a failure; seconds since the
 * first of the ready ones could be taken.
 */
export type JobBacklog = { name: string, ready: number, later: number, active: number, again: number, oldest: number | null }

/**
 * Dispatches that are not at their end, and steps in doubt: how many, how many of them were tried before, seconds that the first of them
 * has been due.
 */
export type DispatchBacklog = { queued: number, running: number, uncertain: number, triedAgain: number, oldest: number | null }

/** What the queue and the dispatches of all companies have waiting. */
export async function readBacklog ({ owner, now }: Database): Promise<{ jobs: JobBacklog[], dispatches: DispatchBacklog }> {
  const { rows: jobs } = await sql<JobBacklog>`
    select name, count(*) filter (where state < 'active' and start_after <= now())::int as ready, count(*) filter (where state < 'active'
      and start_after > now())::int as later,
      count(*) filter (where state = 'active')::int as active, count(*) filter (where state = 'retry')::int as again,
      extract(epoch from now() - min(greatest(created_on, start_after)) filter (where state < 'active'
        and start_after <= now()))::float as oldest
    from queue.job where state <= 'active' and name not like '\\_\\_%' group by name order by name`.execute(owner)
  // What runs has a run, and indices know both: nothing is read of what has ended.
  const { rows: [dispatches] } = await sql<DispatchBacklog>`
    select count(*) filter (where status = 'queued')::int as queued, count(*) filter (where status = 'running')::int as running,
      (select count(*)::int from steps where status = 'uncertain') as uncertain,
      count(*) filter (where status = 'queued' and exists (select from steps where steps.dispatch_id = dispatches.dispatch_id
        and tries > 0))::int as "triedAgain",
      extract(epoch from ${now} - min(next_try_at) filter (where next_try_at <= ${now}))::float as oldest
    from dispatches where status = 'queued' or (status = 'running' and run_id is not null)`.execute(owner)
  return { jobs, dispatches: dispatches ?? { queued: 0, running: 0, uncertain: 0, triedAgain: 0, oldest: null } }
}
