import type { DispatchStatus, HoldView, StepStatus } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'

type HoldRow = {
  step_id: string
  dispatch_id: string
  company_id: number
  company: string
  service: string
  provider_code: string | null
  status: StepStatus
  dispatch_status: DispatchStatus
  held: number
  created_at: Date
  uncertain_at: Date | null
}

const uncertainSteps = sql`select step_id from steps where status = 'uncertain'`

// Of steps that hold credits there is no index; these conditions have one each, and no step of an ended dispatch is read.
const holding = sql`${uncertainSteps} union
  select step_id from steps join dispatches using (dispatch_id)
    where (dispatches.status = 'queued' or (dispatches.status = 'running' and run_id is not null)) and held > 0 union
  select step_id from credits join steps using (company_id)
    where credits.held > 0 and deferred_on is not null and status in ('waiting', 'planned', 'calling', 'unavailable') and steps.held > 0`

const held = sql`select steps.step_id, steps.dispatch_id, steps.company_id, companies.name as company, steps.service,
      steps.provider_code, steps.status, dispatches.status as dispatch_status, steps.held, dispatches.created_at, steps.uncertain_at
    from steps join dispatches using (dispatch_id) join companies on companies.company_id = steps.company_id`

/** A page of the steps of all companies that hold credits or are uncertain, or of the latter alone, the oldest first. */
export async function listHolds (
  { owner }: Database,
  { uncertain, limit, after }: { uncertain: boolean, limit: number, after?: string }
): Promise<HoldView[]> {
  const beyond = after === undefined ? sql`` : sql`and steps.step_id > ${after}`
  const { rows } = await sql<HoldRow>`${held}
    where steps.step_id in (${uncertain ? uncertainSteps : holding}) ${beyond} order by steps.step_id limit ${limit}`.execute(owner)
  return rows.map(viewOf)
}

/** One step of any company as a hold, also when it holds nothing any more. */
export async function findHold ({ owner }: Database, stepId: string): Promise<HoldView | undefined> {
  const { rows: [row] } = await sql<HoldRow>`${held} where steps.step_id = ${stepId}`.execute(owner)
  return row && viewOf(row)
}

function viewOf (row: HoldRow): HoldView {
  return {
    stepId: row.step_id,
    dispatchId: row.dispatch_id,
    companyId: row.company_id,
    companyName: row.company,
    service: row.service,
    providerName: row.provider_code,
    status: row.status,
    dispatchStatus: row.dispatch_status,
    held: row.held,
    createdAt: row.created_at.toISOString(),
    uncertainSince: row.uncertain_at?.toISOString() ?? null
  }
}
