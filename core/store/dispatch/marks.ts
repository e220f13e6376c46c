import type { DispatchStatus } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { sql } from 'kysely'
import type { DispatchRows } from './dispatch-rows.ts'

/** Texts that change whenever the status of a dispatch, its timeline or what features keep of it does. */
export async function readMarks (
  { owner }: Database,
  dispatchIds: readonly string[],
  dispatchRows: readonly Pick<DispatchRows, 'mark'>[]
): Promise<Map<string, string>> {
  const { rows } = await sql<{ dispatch_id: string, mark: string }>`select dispatch_id, concat_ws('.', status,
      (select max(event_id) from events where events.dispatch_id = dispatches.dispatch_id)
      ${sql.join(dispatchRows.map(({ mark }) => sql`, ${mark}`), sql``)}) as mark
    from dispatches where dispatch_id = any(${dispatchIds}::uuid[])`.execute(owner)
  return new Map(rows.map(({ dispatch_id: id, mark }) => [id, mark]))
}

export type StatusRow = {
  company_id: number
  dispatch_id: string
  status: DispatchStatus
  test: boolean
  user_id: number
  services: string[]
}

/** How many of its newest dispatches a company is told about. */
const newest = 100

/** The statuses of the newest dispatches of companies. */
export async function readStatuses ({ owner }: Database, companyIds: readonly number[]): Promise<StatusRow[]> {
  const { rows } = await sql<StatusRow>`select found.company_id, found.dispatch_id, found.status, found.test, found.user_id, found.services
    from unnest(${companyIds}::int[]) as wanted (company_id),
    lateral (select company_id, dispatch_id, status, test, user_id, services from dispatches where company_id = wanted.company_id
      order by dispatch_id desc limit ${newest}) as found`.execute(owner)
  return rows
}
