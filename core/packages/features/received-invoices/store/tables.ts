import type { Database } from '@dispatch/database'
import { type ColumnType, type Generated, type Selectable, sql } from 'kysely'
import type { AnswerBody, AnswerState, ReceivedInvoiceView, ReceivedState } from '../contract/received-invoices.ts'

/** The facts of a file that lists show. */
export type Facts = NonNullable<ReceivedInvoiceView['invoice']>
/** A stored file. `size` in bytes. */
export type StoredInvoice = { filename: string, contentType: string, size: number, sha256: string, key: string }
export type Trouble = { code: string, message: string }
/** What was said, with the time at which it came to be. */
export type Answer = AnswerBody & { at: string }

type Written<Value> = ColumnType<Value, string | null | undefined, string | null>

type Tables = {
  receptions: {
    company_id: number
    provider_code: string
    is_on: boolean
    since: Date
    sandbox: Generated<boolean>
    cursor: string | null
    looked_at: Date | null
    next_at: Date
    failures: Generated<number>
    problem: string | null
  }
  received_invoices: {
    company_id: number
    received_id: string
    provider_code: string
    sandbox: boolean
    remote_id: string
    state: ReceivedState
    problem: Written<Trouble | null>
    file: Written<StoredInvoice | null>
    facts: Written<Facts | null>
    number: string | null
    parties: string | null
    status: string | null
    received_at: Date
    taken_at: Date
    tries: Generated<number>
    next_at: Date
    speaking_until: Date | null
    removed_at: Date | null
  }
  received_statuses: {
    company_id: number
    received_id: string
    status_id: string
    saying: ColumnType<Answer, string, string>
    state: AnswerState
    message: string | null
    number: Generated<string>
    user_id: number
    asked_at: Date
    said_at: Date
    looks: Generated<number>
    next_at: Date | null
  }
}

export type ReceptionRow = Selectable<Tables['receptions']>
export type InvoiceRow = Selectable<Tables['received_invoices']>
export type AnswerRow = Selectable<Tables['received_statuses']>

/** Queries that know the tables of received e-invoices. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<Tables>()
}

/** Rows of a company, for the tests of the walls between companies. */
export async function fillReceived (queries: Database['owner'], companyId: number): Promise<void> {
  await sql`with invoice as (
      insert into received_invoices (company_id, received_id, provider_code, sandbox, remote_id, state, received_at, taken_at, next_at)
      values (${companyId}, gen_random_uuid(), 'flow', false, 'any', 'fetching', now(), now(), 'infinity') returning received_id
    ), reception as (
      insert into receptions (company_id, provider_code, is_on, since, next_at) values (${companyId}, 'flow', false, now(), 'infinity')
    ) insert into received_statuses (company_id, received_id, status_id, saying, state, user_id, asked_at, said_at)
    select ${companyId}, received_id, gen_random_uuid(), '{"code": "205", "at": "2026-01-01T00:00:00Z"}', 'said',
      (select min(user_id) from users where company_id = ${companyId}), now(), now() from invoice`.execute(queries)
}
