import { addSeconds, type OwnerQueries, type SqlTimestamp } from '@dispatch/database'
import { sql } from 'kysely'
import type { StepRef } from './runs.ts'

/**
 * The step for the remaining recipients of an accepted e-mail (its rest). `of`: the first step, whose content it sends. `tries`: how often
 * it was tried before. `tryAfter`: seconds until it is tried; without it the step has failed.
 */
export type RemainingStep = StepRef & { of: string, tries: number, tryAfter?: number }

/** Records the step beside the path of its dispatch, in the transaction that records the answer. It costs nothing. */
export async function insertRemainingStep (
  queries: OwnerQueries,
  { companyId, dispatchId, stepId, of, tries, tryAfter }: RemainingStep,
  now: SqlTimestamp
): Promise<void> {
  await sql`
    insert into steps (step_id, company_id, dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by,
      sandbox, fields, request_settings,
      price, held, status, rest_of, tries, next_try_at)
    select ${stepId}, company_id, dispatch_id, (select max(position) + 1 from steps
      where dispatch_id = ${dispatchId}), service, provider_code, provider_version, chosen_by,
      configured_by, sandbox, '{}', '{}', 0, 0, ${tryAfter === undefined ? 'unavailable' : 'planned'}, step_id, ${tries},
        ${tryAfter === undefined ? null : addSeconds(now, tryAfter)}::timestamptz
    from steps where step_id = ${of} and company_id = ${companyId}`.execute(queries)
}
