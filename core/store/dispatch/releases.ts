import { type RawBuilder, sql } from 'kysely'
import type { EventKind } from '../../contract/states.ts'
import { asOwner, type CompanyQueries, type Database, type OwnerQueries } from '../db/database.ts'
import type { EventActor } from '../db/schema.ts'
import type { SqlTimestamp } from '../db/sql-timestamp.ts'
import { type AuditAuthor, noteAudit } from '../tenants/audit.ts'
import type { DispatchRef, StepRef } from './runs.ts'

/** What is released: of one company, or of all; of one provider, of one service, or whatever waits. */
export type ReleaseFilter = { companyId: number | null, providerName?: string, service?: string }

/** Adds the jobs of what was released, in its transaction. */
export type EnqueueAll<Released> = (queries: OwnerQueries, released: readonly Released[]) => Promise<void>

type By<Released> = { author: AuditAuthor, actor: EventActor, limit: number, at: Date, enqueue: EnqueueAll<Released> }

/**
 * Makes due at once at most `limit` dispatches that wait for another try of a step which its provider surely did not accept:
 * each with an entry in its timeline, each company with one in its audit log. Their tries begin anew. Answers how many there were.
 */
export async function releaseDispatches (database: Database, what: ReleaseFilter, by: By<DispatchRef>): Promise<number> {
  const { now } = database
  const tried = sql`steps.status = 'unavailable' and steps.deferred_on is null and steps.rest_of is null`
  return await release(database, what, by, sql<DispatchRef>`
    with waiting as (
      select company_id, dispatch_id from dispatches where status = 'queued' and run_id is null and next_try_at > ${now}
        and company_id = coalesce(${what.companyId}, company_id)
        and exists (select from steps where steps.dispatch_id = dispatches.dispatch_id and steps.company_id = dispatches.company_id
          and ${tried} and ${ofProvider(what)})
      order by next_try_at limit ${by.limit} for update skip locked
    ), released as (
      update dispatches set next_try_at = ${now} from waiting where dispatches.dispatch_id = waiting.dispatch_id
        and dispatches.company_id = waiting.company_id
    ), renewed as (
      update steps set tries = 0 from waiting where steps.dispatch_id = waiting.dispatch_id and steps.company_id = waiting.company_id
        and ${tried}
    ), noted as (${noted(by, now, sql`null::uuid`)})
    select company_id as "companyId", dispatch_id as "dispatchId" from waiting`)
}

/** The same for what waits beside the path of its dispatch: steps whose event has come, and what an accepted step left. */
export async function releaseSteps (database: Database, what: ReleaseFilter, by: By<StepRef>): Promise<number> {
  const { now } = database
  return await release(database, what, by, sql<StepRef>`
    with waiting as (
      select company_id, dispatch_id, step_id from steps where next_try_at > ${now} and company_id = coalesce(${what.companyId}, company_id)
        and ${ofProvider(what)}
      order by next_try_at limit ${by.limit} for update skip locked
    ), released as (
      update steps set next_try_at = ${now}, tries = 0 from waiting where steps.step_id = waiting.step_id
        and steps.company_id = waiting.company_id
    ), noted as (${noted(by, now, sql`step_id`)})
    select company_id as "companyId", dispatch_id as "dispatchId", step_id as "stepId" from waiting`)
}

function ofProvider ({ providerName, service }: ReleaseFilter): RawBuilder<unknown> {
  return sql`steps.provider_code = coalesce(${providerName ?? null}, steps.provider_code)
    and steps.service = coalesce(${service ?? null}, steps.service)`
}

function noted ({ actor }: Pick<By<never>, 'actor'>, now: SqlTimestamp, stepId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
    select company_id, dispatch_id, ${stepId}, ${'released' satisfies EventKind}, ${JSON.stringify(actor)}, '{}', ${now} from waiting`
}

async function release<Released extends DispatchRef> (
  database: Database,
  { companyId, providerName, service }: ReleaseFilter,
  { author, at, enqueue }: By<Released>,
  statement: RawBuilder<Released>
): Promise<number> {
  const work = async (queries: CompanyQueries): Promise<number> => {
    const { rows } = await statement.execute(queries)
    for (const [id, released] of Map.groupBy(rows, (row) => row.companyId)) {
      const dispatches = new Set(released.map(({ dispatchId }) => dispatchId)).size
      await noteAudit(queries, {
        companyId: id,
        author,
        action: 'queue.released',
        object: { kind: 'queue', id: providerName ?? service ?? 'all' },
        facts: { dispatches },
        at
      })
    }
    await enqueue(await asOwner(queries), rows)
    return rows.length
  }
  return companyId === null ? database.owner.transaction().execute(work) : database.company(companyId, work)
}
