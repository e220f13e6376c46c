import { sql } from 'kysely'
import type { Database } from '../db/database.ts'

/** One provider of a list that surely did not do a step: with which error, and which provider came next. */
export type HandedOver = { stepId: string, code: string, error: string, next: string }

/** What of a dispatch's timeline and of the company's audit log tells why its steps have their providers. */
export type ChoiceHistory = { handedOver: readonly HandedOver[], settingsChangedAt: Date | null }

/** Settings that matter: the defaults of services, and the configurations of providers. Those of other users do not. */
export type RelevantSettings = { userId: number, services: readonly string[], providers: readonly string[], since: Date }

/** Reads why providers of lists were left, the oldest first, and when relevant settings were last changed. */
export async function readChoiceHistory (
  database: Database,
  { companyId, dispatchId }: { companyId: number, dispatchId: string },
  { userId, services, providers, since }: RelevantSettings
): Promise<ChoiceHistory> {
  return database.company(companyId, async (queries) => {
    const { rows: handedOver } = await sql<HandedOver>`
      select step_id as "stepId", actor->>'code' as code, facts->>'error' as error, facts->>'nextProviderName' as next
      from events where company_id = ${companyId} and dispatch_id = ${dispatchId} and facts ? 'nextProviderName'
      order by event_id`.execute(queries)
    const { rows: [changed] } = await sql<{ at: Date | null }>`
      select max(at) as at from audit where company_id = ${companyId} and at > ${since}
        and ((object_kind = 'choice' and object_id = any (${services})) or
          (object_kind = 'configuration' and object_id = any (${providers})))
        and coalesce((facts->>'ofUser')::integer, ${userId}) = ${userId}`.execute(queries)
    return { handedOver, settingsChangedAt: changed?.at ?? null }
  })
}
