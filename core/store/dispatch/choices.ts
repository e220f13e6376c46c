import type { Database } from '@dispatch/database'
import { sql } from 'kysely'

/**
 * A provider that surely did not do a step: with which error, and which provider of the list came next (null: none). `code` is null where
 * an earlier release has not noted it.
 */
export type Left = { stepId: string, code: string | null, error: string, next: string | null }

/** Settings that matter: the defaults of services, and the configurations of providers. Those of other users do not. */
export type RelevantSettings = { userId: number, services: readonly string[], providers: readonly string[], since: Date }

/** Reads from a dispatch's timeline which providers were left, the oldest first. */
export async function readLeft (database: Database, companyId: number, dispatchId: string): Promise<readonly Left[]> {
  const { rows } = await database.company(companyId, (queries) =>
    sql<Left>`
    select step_id as "stepId", coalesce(facts->>'providerName', actor->>'code') as code, facts->>'error' as error,
      facts->>'nextProviderName' as next
    from events where company_id = ${companyId} and dispatch_id = ${dispatchId} and (facts ? 'nextProviderName'
      or (kind = 'answered' and actor->>'kind' = 'provider' and facts->>'outcome' in ('rejected', 'unavailable')))
    order by event_id`.execute(queries))
  return rows
}

/** When relevant settings were last changed, by the company's audit log. */
export async function readLastChange (
  database: Database,
  companyId: number,
  { userId, services, providers, since }: RelevantSettings
): Promise<Date | null> {
  const { rows: [changed] } = await database.company(companyId, (queries) =>
    sql<{ at: Date | null }>`
    select max(at) as at from audit where company_id = ${companyId} and at > ${since}
      and ((object_kind = 'choice' and object_id = any (${services})) or
        (object_kind = 'configuration' and object_id = any (${providers})))
      and coalesce((facts->>'ofUser')::integer, ${userId}) = ${userId}`.execute(queries))
  return changed?.at ?? null
}
