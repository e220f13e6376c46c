import { sql, type RawBuilder } from 'kysely'
import type { EventKind } from '../contract/states.ts'
import { auditRow, type Author } from './audit.ts'
import { callOf } from './calls.ts'
import type { Database } from './database.ts'
import type { NewJobs } from './jobs.ts'
import type { DispatchOf, StepOf } from './runs.ts'
import type { EventActor } from './schema.ts'

/** What is released: of one company, or of all; of one provider, of one service, or whatever waits. */
export type Release = { companyId: number | null, providerName?: string, service?: string }

/** Who releases, at most `limit` at once; `jobs`: one for each that is given, in their order. */
type By<Waiting> = { author: Author, actor: EventActor, limit: number, at: Date, jobs: (waiting: readonly Waiting[]) => NewJobs }

/** How many were released, and whether there may be more. */
export type Released = { count: number, more: boolean }

/**
 * Makes due at once at most `limit` dispatches that wait for another try of a step which its provider surely did not accept:
 * each with an entry in its timeline, each company with one in its audit log. Their tries begin anew.
 */
export async function releaseWaiting (database: Database, what: Release, by: By<DispatchOf>): Promise<Released> {
  return release(database, what, by, sql<DispatchOf>`
    select company_id as "companyId", dispatch_id as "dispatchId" from dispatches
    where status = 'queued' and run_id is null and next_try_at > ${database.now} and company_id = coalesce(${what.companyId}, company_id)
      and exists (select from steps where steps.dispatch_id = dispatches.dispatch_id and steps.company_id = dispatches.company_id
        and steps.status = 'unavailable' and steps.deferred_on is null and steps.rest_of is null and ${ofProvider(what)})
    order by next_try_at limit ${by.limit}`)
}

/** The same for what waits beside the path of its dispatch: steps whose event has come, and what an accepted step left. */
export async function releaseBeside (database: Database, what: Release, by: By<StepOf>): Promise<Released> {
  return release(database, what, by, sql<StepOf>`
    select company_id as "companyId", dispatch_id as "dispatchId", step_id as "stepId" from steps
    where next_try_at > ${database.now} and company_id = coalesce(${what.companyId}, company_id) and ${ofProvider(what)}
    order by next_try_at limit ${by.limit}`)
}

function ofProvider ({ providerName, service }: Release): RawBuilder<unknown> {
  return sql`steps.provider_code = coalesce(${providerName ?? null}, steps.provider_code) and steps.service = coalesce(${service ?? null}, steps.service)`
}

/** Finds what waits, and releases that of each company by a call of its own. */
async function release<Waiting extends DispatchOf & { stepId?: string }> (database: Database, what: Release, by: By<Waiting>, search: RawBuilder<Waiting>): Promise<Released> {
  const { companyId } = what
  const { rows } = companyId === null ? await search.execute(database.owner) : await database.company(companyId, (queries) => search.execute(queries))
  let count = 0
  for (const [id, waiting] of Map.groupBy(rows, (row) => row.companyId)) count += await releaseOf(database, id, waiting, what, by)
  return { count, more: rows.length === by.limit && count > 0 }
}

async function releaseOf<Waiting extends DispatchOf & { stepId?: string }> (
  database: Database, companyId: number, waiting: readonly Waiting[], { providerName, service }: Release, { author, actor, at, jobs }: By<Waiting>
): Promise<number> {
  const given = {
    company_id: companyId,
    waiting: waiting.map(({ dispatchId, stepId }) => ({ dispatch_id: dispatchId, step_id: stepId })),
    kind: 'released' satisfies EventKind,
    actor,
    audit: auditRow({ companyId, author, action: 'queue.released', object: { kind: 'queue', id: providerName ?? service ?? 'all' }, at })
  }
  const released = await database.call(companyId, sql<{ count: number }>`select ${callOf('release')}(${JSON.stringify(given)}::jsonb, ${database.now}, ${JSON.stringify(jobs(waiting))}::jsonb) as count`)
  return released?.count ?? 0
}
