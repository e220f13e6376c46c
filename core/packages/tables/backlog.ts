import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import { isLetGo } from './paused-batches.ts'

/**
 * How many jobs of a kind are `ready` to be taken, wait for `later`, are `active`, and come `again` after a failure. `oldest`: the seconds
 * that the oldest ready one has waited.
 */
export type JobBacklog = { name: string, ready: number, later: number, active: number, again: number, oldest: number | null }

/**
 * How many dispatches are queued and running, and how many steps are uncertain. `triedAgain`: queued dispatches that were tried before.
 * `oldest`: the seconds that the oldest queued one has been due. What waits for its time, or for its batch to go on, is not among them.
 */
export type DispatchBacklog = { queued: number, running: number, uncertain: number, triedAgain: number, oldest: number | null }

/** Counts what waits in the queue, and the dispatches of all companies that have not ended. */
export async function readBacklog ({ owner, now }: Database): Promise<{ jobs: JobBacklog[], dispatches: DispatchBacklog }> {
  const { rows: jobs } = await sql<JobBacklog>`
    select name, count(*) filter (where state < 'active' and start_after <= now())::int as ready, count(*) filter (where state < 'active'
      and start_after > now())::int as later,
      count(*) filter (where state = 'active')::int as active, count(*) filter (where state = 'retry')::int as again,
      extract(epoch from now() - min(greatest(created_on, start_after)) filter (where state < 'active'
        and start_after <= now()))::float as oldest
    from queue.job where state <= 'active' and name not like '\\_\\_%' group by name order by name`.execute(owner)
  // A running dispatch has a run, and both conditions have an index: no row of an ended dispatch is read.
  const { rows: [dispatches] } = await sql<DispatchBacklog>`
    select count(*) filter (where status = 'queued' and is_due)::int as queued, count(*) filter (where status = 'running')::int as running,
      (select count(*)::int from steps where status = 'uncertain') as uncertain,
      count(*) filter (where status = 'queued' and is_due and exists (select from steps where steps.dispatch_id = dispatches.dispatch_id
        and tries > 0))::int as "triedAgain",
      extract(epoch from ${now} - min(next_try_at) filter (where is_due and next_try_at <= ${now}))::float as oldest
    from dispatches cross join lateral (
      select ${isLetGo} and coalesce((schedule->>'dueAt')::timestamptz <= ${now}, true) as is_due
    ) as due where status = 'queued' or (status = 'running' and run_id is not null)`.execute(owner)
  return { jobs, dispatches: dispatches ?? { queued: 0, running: 0, uncertain: 0, triedAgain: 0, oldest: null } }
}
