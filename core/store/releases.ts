import { sql } from 'kysely'
import type { EventKind } from '../contract/states.ts'
import { noteAudit, type Author } from './audit.ts'
import { asOwner, type CompanyQueries, type Database, type OwnerQueries } from './database.ts'
import type { DispatchOf } from './runs.ts'
import type { EventActor } from './schema.ts'

/** What is released: of one company, or of all; of one provider, of one service, or whatever waits. */
export type Release = { companyId: number | null, providerName?: string, service?: string }

/** Adds the jobs of what was released, in its transaction. */
export type EnqueueAll = (queries: OwnerQueries, released: readonly DispatchOf[]) => Promise<void>

/**
 * Makes due at once at most `limit` dispatches that wait for another try of a step which its provider surely did not accept:
 * each with an entry in its timeline, each company with one in its audit log. Answers how many there were.
 */
export async function releaseWaiting (
  database: Database, { companyId, providerName, service }: Release,
  { author, actor, limit, at, enqueue }: { author: Author, actor: EventActor, limit: number, at: Date, enqueue: EnqueueAll }
): Promise<number> {
  const { owner, now } = database
  const release = async (queries: CompanyQueries): Promise<number> => {
    const { rows } = await sql<DispatchOf>`
      with waiting as (
        select company_id, dispatch_id from dispatches where status = 'queued' and run_id is null and next_try_at > ${now} and company_id = coalesce(${companyId}, company_id)
          and exists (select from steps where steps.dispatch_id = dispatches.dispatch_id and steps.company_id = dispatches.company_id and steps.status = 'unavailable' and deferred_on is null
            and provider_code = coalesce(${providerName ?? null}, provider_code) and steps.service = coalesce(${service ?? null}, steps.service))
        order by next_try_at limit ${limit} for update skip locked
      ), released as (
        update dispatches set next_try_at = ${now} from waiting where dispatches.dispatch_id = waiting.dispatch_id and dispatches.company_id = waiting.company_id
      ), noted as (
        insert into events (company_id, dispatch_id, kind, actor, facts, at) select company_id, dispatch_id, ${'released' satisfies EventKind}, ${JSON.stringify(actor)}, '{}', ${now} from waiting
      )
      select company_id as "companyId", dispatch_id as "dispatchId" from waiting`.execute(queries)
    for (const [id, released] of Map.groupBy(rows, (row) => row.companyId)) {
      await noteAudit(queries, { companyId: id, author, action: 'queue.released', object: { kind: 'queue', id: providerName ?? service ?? 'all' }, facts: { dispatches: released.length }, at })
    }
    await enqueue(await asOwner(queries), rows)
    return rows.length
  }
  return companyId === null ? owner.transaction().execute(release) : database.company(companyId, release)
}
