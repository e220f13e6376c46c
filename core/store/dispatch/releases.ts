import { type AuditAuthor, auditRow } from '@dispatch/accounts'
import type { Json } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { EventActor, PreparedJobs } from '@dispatch/tables'
import { type RawBuilder, sql } from 'kysely'
import { callFunction } from '../calls/database-functions.ts'
import type { DispatchRef, StepRef } from './runs.ts'

/** What is released: of one company, or of all; of one provider, of one service, or whatever waits. */
export type ReleaseFilter = { companyId: number | null, providerName?: string, service?: string }

/** Who releases; `jobs`: those of what is found, in the same order; `limit`: so many are looked for at once. */
type By<Waiting> = { author: AuditAuthor, actor: EventActor, at: Date, limit: number, jobs: (waiting: readonly Waiting[]) => PreparedJobs }

/** How many were released, and whether there may be more. */
export type Released = { count: number, more: boolean }

/**
 * Dispatches that wait for another try of a step, which its provider surely did not accept, become due at once, and their tries begin anew.
 * Each gets an entry in its timeline, each company one in its audit log.
 */
export async function releaseDispatches (database: Database, what: ReleaseFilter, by: By<DispatchRef>): Promise<Released> {
  return release(database, what, by, sql<DispatchRef>`
    select company_id as "companyId", dispatch_id as "dispatchId" from dispatches
    where status = 'queued' and run_id is null and next_try_at > ${database.now} and company_id = coalesce(${what.companyId}, company_id)
      and exists (select from steps where steps.dispatch_id = dispatches.dispatch_id and steps.company_id = dispatches.company_id
        and steps.status = 'unavailable' and steps.deferred_on is null and steps.rest_of is null and ${ofProvider(what)})
    order by next_try_at limit ${by.limit}`)
}

/** The same for what waits beside the path of its dispatch: steps whose event has come, and what an accepted step left. */
export async function releaseSteps (database: Database, what: ReleaseFilter, by: By<StepRef>): Promise<Released> {
  return release(database, what, by, sql<StepRef>`
    select company_id as "companyId", dispatch_id as "dispatchId", step_id as "stepId" from steps
    where next_try_at > ${database.now} and company_id = coalesce(${what.companyId}, company_id) and ${ofProvider(what)}
    order by next_try_at limit ${by.limit}`)
}

function ofProvider ({ providerName, service }: ReleaseFilter): RawBuilder<unknown> {
  const name = providerName ?? null
  return sql`(steps.provider_code = coalesce(${name}, steps.provider_code)
    or steps.providers @> jsonb_build_array(jsonb_build_object('code', ${name}::text)))
    and steps.service = coalesce(${service ?? null}, steps.service)`
}

/** What waits: a dispatch, or a step beside its path. */
type Waiting = DispatchRef & { stepId?: string }

/** Finds what waits, and releases what each company has of it by a call of its own: no lock outlives one message. */
async function release<Found extends Waiting> (
  database: Database,
  what: ReleaseFilter,
  by: By<Found>,
  search: RawBuilder<Found>
): Promise<Released> {
  const { companyId } = what
  const { rows } = companyId === null
    ? await search.execute(database.owner)
    : await database.company(companyId, (queries) => search.execute(queries))
  let count = 0
  for (const [id, waiting] of Map.groupBy(rows, (row) => row.companyId)) count += await releaseOf(database, id, waiting, what, by)
  // What somebody else has locked stays: where nothing else is left, looking again is no use.
  return { count, more: rows.length === by.limit && count > 0 }
}

async function releaseOf<Found extends Waiting> (
  database: Database,
  companyId: number,
  waiting: readonly Found[],
  { providerName, service }: ReleaseFilter,
  { author, actor, at, jobs }: By<Found>
): Promise<number> {
  const { statement, rows } = jobs(waiting)
  const jobRows = JSON.parse(rows) as readonly Json[]
  const object = { kind: 'queue', id: providerName ?? service ?? 'all' }
  const { answer } = await callFunction(database, 'release_waiting', {
    company_id: companyId,
    waiting: waiting.map(({ dispatchId, stepId }, index) => ({ dispatch_id: dispatchId, step_id: stepId, job: jobRows[index] ?? null })),
    actor,
    audit: auditRow({ companyId, author, action: 'queue.released', object, at }),
    statement
  })
  return answer
}
