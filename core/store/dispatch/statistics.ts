import type { Sight } from '@dispatch/accounts'
import type { DispatchStatus } from '@dispatch/contract'
import { type Database, firstIdAt, idSkew } from '@dispatch/database'
import { sql } from 'kysely'

/** How many dispatches there are of a service and a status; one of several services counts for each of them. */
export type StatusCount = { service: string, status: DispatchStatus, count: number }

/**
 * Counts the company's dispatches that were created from one time on and before another, by service and status. Those that were forgotten
 * count for the hour in which they were created. `test`: only tests, or none. `services`: those whose path has no other service, and of the
 * forgotten ones by service.
 */
export async function countDispatches (
  database: Database,
  companyId: number,
  { from, to, test, services }: { from: Date, to: Date, test?: boolean } & Pick<Sight, 'services'>
): Promise<StatusCount[]> {
  return database.reading(companyId, async (queries) => {
    // A month of a company may be half a million rows. What is counted of them stands in the index that is read, dispatches_counted; a plan
    // for any period would expect a few and sort them all.
    await sql`set local plan_cache_mode = force_custom_plan`.execute(queries)
    const { rows } = await sql<StatusCount>`select service, status, sum(count)::integer as count from (
        select service, status, count from (
          select path, status, count(*) from dispatches
          where company_id = ${companyId} and dispatch_id >= ${firstIdAt(from.getTime() - idSkew)}
            and dispatch_id < ${firstIdAt(to.getTime() + idSkew)} and created_at >= ${from} and created_at < ${to}
            and (${test ?? null}::boolean is null or test = ${test ?? null}) and (${
      services ?? null
    }::text[] is null or string_to_array(path, '/') <@ ${services ?? null})
          group by path, status
        ) as stored cross join unnest(string_to_array(path, '/')) as service
        union all select service, status, count from dispatch_counts
        where company_id = ${companyId} and hour >= ${from} and hour < ${to} and (${test ?? null}::boolean is null or test = ${
      test ?? null
    })
          and (${services ?? null}::text[] is null or service = any (${services ?? null}))
      ) as counted group by service, status order by service, status`.execute(queries)
    return rows
  })
}
