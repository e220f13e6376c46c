import type { Envelope, JsonObject } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { type ColumnType, type Generated, type Selectable, sql } from 'kysely'
import type { AlertBody, AlertKind } from '../contract/alerts.ts'

/** When it is met, as it is asked for. */
export type Condition = Pick<AlertBody, 'percent' | 'least' | 'minutes' | 'credits' | 'service' | 'provider'>
/** The result of a check: how many, of how many, and of whom. */
export type Facts = { value: number, count?: number, providers?: readonly string[] }
export type AlertEvent = 'began' | 'ended'
export type Way = 'mail' | 'chat'

type Tables = {
  alerts: {
    company_id: number
    alert_id: string
    name: string
    kind: AlertKind
    condition: ColumnType<Condition, string, string>
    language: 'en' | 'fr'
    emails: string[]
    callback: boolean
    chat_format: 'slack' | 'teams' | null
    chat_host: string | null
    chat: ColumnType<Envelope | null, string | null, string | null>
    firing: Generated<boolean>
    number: Generated<number>
    moved_at: Date | null
    clear_since: Date | null
    looked_at: Generated<Date>
    tried_at: Date | null
    undelivered: Generated<Way[]>
    created_at: Date
  }
  alert_messages: {
    company_id: number
    alert_id: string
    number: number
    way: Way
    event: AlertEvent
    facts: ColumnType<Facts & JsonObject, string, string>
    at: Date
    tries: Generated<number>
    next_at: Date
  }
}

export type AlertRow = Selectable<Tables['alerts']>
export type MessageRow = Selectable<Tables['alert_messages']>

/** Queries that know the tables of alerts. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<Tables>()
}

/** Rows of a company, for the tests of the walls between companies. */
export async function fillAlerts (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`with added as (
      insert into alerts (company_id, alert_id, name, kind, condition, language, emails, callback, created_at)
      values (${companyId}, gen_random_uuid(), 'Any', 'credits_low', '{"credits": 1}', 'en', '{}', true, now()) returning alert_id
    ) insert into alert_messages (company_id, alert_id, number, way, event, facts, at, next_at)
    select ${companyId}, alert_id, 1, 'mail', 'began', '{}', now(), 'infinity' from added`.execute(queries)
}
