import type { EndpointType } from '@dispatch/contract'
import type { CompanyQueries, Database } from '@dispatch/database'
import { type RawBuilder, sql } from 'kysely'
import { type EndpointRef, note } from './endpoints.ts'

/**
 * After how many days of failure a company is told, and after how many more since then an endpoint is disabled: with the next attempt that
 * fails. plugins/guides/client.md and the OpenAPI document tell them too.
 */
const failingFor = { reported: 2, disabled: 5, between: 1 } as const

/** An endpoint of which a company is told, and what. */
export type FailingEndpoint = { type: EndpointType, endpointId: string, name: string, failingSince: Date }

/** An endpoint that has failed for days, of which its company is not told yet. */
const isOverdue = ({ now }: Database): RawBuilder<boolean> =>
  sql<boolean>`enabled and removed_at is null and (
      warned_at is null and failing_since <= ${now} - ${days(failingFor.reported)}
      or warned_at <= ${now} - ${days(failingFor.between)} and failing_since <= ${now} - ${days(failingFor.disabled)})`
const days = (count: number): RawBuilder<unknown> => sql`make_interval(days => ${count})`

/** Whether the company is to be told of an endpoint that has failed for days. */
export async function isNotificationDue (
  database: Database,
  queries: CompanyQueries,
  { companyId, endpointId }: EndpointRef
): Promise<boolean> {
  const { rows } = await sql`select from callback_endpoints where company_id = ${companyId} and endpoint_id = ${endpointId}
    and ${isOverdue(database)}`.execute(queries)
  return rows.length > 0
}

/** Notes of an endpoint that has failed for days that its company is told, or disables it. Undefined where nothing is to be told. */
export async function noteFailing (
  database: Database,
  queries: CompanyQueries,
  { companyId, endpointId }: EndpointRef
): Promise<FailingEndpoint | undefined> {
  const { now } = database
  const { rows: [failing] } = await sql<FailingEndpoint & { at: Date }>`
    update callback_endpoints set
      enabled = warned_at is null, warned_at = coalesce(warned_at, ${now}), disabled_at = case when warned_at is null then null else ${now} end
    where company_id = ${companyId} and endpoint_id = ${endpointId} and ${isOverdue(database)}
    returning case when enabled then 'company.endpoint_failing' else 'company.endpoint_disabled' end as type, endpoint_id as "endpointId",
      name, failing_since as "failingSince", ${now} as at`.execute(queries)
  if (failing === undefined) return undefined
  const { at, ...reported } = failing
  const done = reported.type === 'company.endpoint_failing' ? 'failing' as const : 'disabled' as const
  const facts = { name: reported.name, failingSince: reported.failingSince.toISOString() }
  await note(queries, { company_id: companyId, endpoint_id: endpointId }, done, facts, { author: null, at })
  return reported
}
