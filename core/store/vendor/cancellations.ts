import type { EventKind } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { EventActor } from '@dispatch/tables'
import { sql } from 'kysely'
import { type DeliveryReport, noteReport, type OnStatusChange, type TrackedStep } from './deliveries.ts'

/** How a cancellation ends: taken back, not taken back, or nobody knows. */
const cancellationEnds = ['cancelled', 'not_cancelled', 'cancel_unknown'] as const satisfies readonly EventKind[]
export type CancellationEnd = typeof cancellationEnds[number]

/** A time long ago, as that of the last query: so the status of an uncertain step is asked for at the next sweep. */
const longAgo = sql<Date>`to_timestamp(0)`

/**
 * Notes that the vendor of a step is about to be asked to take it back; undefined when the run does not have the lease of the dispatch any
 * more. `doubted`: it was asked before, and nobody knows what came of it.
 */
export async function beginCancellation (
  { company, now }: Database,
  { companyId, dispatchId, stepId }: TrackedStep,
  { runId, actor }: { runId: string, actor: EventActor }
): Promise<{ doubted: boolean } | undefined> {
  return company(companyId, async (queries) => {
    const { rows: [begun] } = await sql<{ doubted: boolean }>`
      with before as (
        select cancel_run is not null or coalesce((select kind = ${'cancel_unknown' satisfies CancellationEnd} from events
          where events.dispatch_id = ${dispatchId} and events.company_id = ${companyId} and events.step_id = ${stepId}
            and kind = any (${cancellationEnds}) order by event_id desc limit 1), false) as doubted
        from steps join dispatches using (dispatch_id)
        where step_id = ${stepId} and steps.company_id = ${companyId} and run_id = ${runId} and leased_until > ${now} for update of steps
      ), asked as (
        update steps set cancel_run = ${runId} from before where step_id = ${stepId} and company_id = ${companyId}
      ), event as (
        insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
        select ${companyId}, ${dispatchId}, ${stepId}, ${'cancelling' satisfies EventKind}, ${
      JSON.stringify(actor)
    }, '{}', ${now} from before
      )
      select doubted from before`.execute(queries)
    return begun
  })
}

/** Notes how the cancellation of a step has ended, and what its vendor said of it. The status of one in doubt is asked for again soon. */
export async function endCancellation (
  { owner, now }: Database,
  step: TrackedStep,
  { runId, end, message, report, moved }: {
    runId: string
    end: CancellationEnd
    message?: string | undefined
    report?: DeliveryReport | undefined
    moved: OnStatusChange
  }
): Promise<void> {
  const { companyId, dispatchId, stepId, providerCode } = step
  await owner.transaction().execute(async (queries) => {
    if (report !== undefined) await noteReport(queries, step, report, { moved, now })
    await queries.insertInto('events').values({
      company_id: companyId,
      dispatch_id: dispatchId,
      step_id: stepId,
      kind: end,
      actor: JSON.stringify({ kind: 'provider', code: providerCode } satisfies EventActor),
      facts: JSON.stringify(message === undefined ? {} : { message }),
      at: now
    }).execute()
    await queries.updateTable('steps').set({ cancel_run: null }).where('step_id', '=', stepId).where('cancel_run', '=', runId).execute()
    if (end === 'cancel_unknown') await queries.updateTable('steps').set({ polled_at: longAgo }).where('step_id', '=', stepId).execute()
  })
}

/**
 * Ends the cancellations whose run has lost its dispatch, with its process or otherwise: nobody knows what their vendors made of them.
 * Answers which steps they are of.
 */
export async function endLostCancellations ({ owner, now }: Database): Promise<string[]> {
  const message = 'The process that asked the provider has ended: it is not known whether it was taken back.'
  const { rows } = await sql<{ stepId: string }>`
    with lost as (
      update steps set cancel_run = null, polled_at = ${longAgo} from dispatches
      where dispatches.dispatch_id = steps.dispatch_id and cancel_run is not null and cancel_run is distinct from run_id
      returning steps.company_id, steps.dispatch_id, step_id
    )
    insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
    select company_id, dispatch_id, step_id, ${'cancel_unknown' satisfies EventKind}, '{"kind":"system"}',
      ${JSON.stringify({ message })}, ${now} from lost
    returning step_id as "stepId"`.execute(owner)
  return rows.map(({ stepId }) => stepId)
}
