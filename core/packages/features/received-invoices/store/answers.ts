import type { CompanyQueries, Database, OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import type { AnswerState } from '../contract/received-invoices.ts'
import type { InvoiceRef } from './invoices.ts'
import { type Answer, type AnswerRow, type InvoiceRow, tablesIn } from './tables.ts'

/** The answers to an e-invoice, the oldest first. */
export async function listAnswers (queries: Database['owner'], { companyId, receivedId }: InvoiceRef): Promise<AnswerRow[]> {
  return tablesIn(queries).selectFrom('received_statuses').selectAll().where('company_id', '=', companyId)
    .where('received_id', '=', receivedId).orderBy('number').execute()
}

/** Seconds after which it is asked what became of something that was said. */
const pollDelays = [15 * 60, 3600, 24 * 3600] as const
const nextLook = (now: Database['now'], count: number) => {
  const seconds = pollDelays[count]
  return seconds === undefined ? sql<null>`null` : sql<Date>`${now} + interval '1 second' * ${seconds}`
}

/** For how long nobody else says something of an e-invoice: longer than a call may take. */
const speakingLease = sql`interval '5 minutes'`

export type Begun = { statusId: string, answer: Answer, userId: number }

/**
 * Notes that something is about to be said, or that it is about to be found out; answers how many seconds ago it was said before, and false
 * while somebody else says something of the invoice. The invoice is locked.
 */
export async function beginAnswer (
  queries: CompanyQueries,
  { now }: Pick<Database, 'now'>,
  { companyId, receivedId }: InvoiceRef,
  { statusId, answer, userId }: Begun
): Promise<{ since: number } | false> {
  const { rows: [mine] } = await sql`update received_invoices set speaking_until = ${now} + ${speakingLease}
    where company_id = ${companyId} and received_id = ${receivedId} and (speaking_until is null or speaking_until <= ${now})
    returning 1`.execute(queries)
  if (mine === undefined) return false
  const { rows: [row] } = await sql<{ since: number }>`
    with before as (
      select extract(epoch from ${now} - said_at)::float as since from received_statuses
      where company_id = ${companyId} and status_id = ${statusId}
    ), written as (
      insert into received_statuses (company_id, received_id, status_id, saying, state, user_id, asked_at, said_at, next_at)
      values (${companyId}, ${receivedId}, ${statusId}, ${JSON.stringify(answer)}, 'asked', ${userId}, ${now}, ${now}, ${nextLook(now, 0)})
      on conflict (company_id, status_id) do update set looks = 0, next_at = excluded.next_at
    ) select coalesce((select since from before), 0) as since`.execute(queries)
  return { since: row?.since ?? 0 }
}

/** Notes that it is said now, once more. */
export async function sayAgain ({ owner, now }: Database, companyId: number, statusId: string): Promise<void> {
  await sql`update received_statuses set state = 'asked', said_at = ${now} where company_id = ${companyId} and status_id = ${statusId}`
    .execute(owner)
}

/** How saying something ended. `looked`: it was looked up by itself. */
export type Ended = { state: AnswerState, message: string | null, looked?: true }

/** Notes how it ended, with what `tell` records; the invoice has the status that was said last. */
export async function endAnswer (
  { owner, now }: Database,
  { company_id: companyId, received_id: receivedId, status_id: statusId }: Pick<AnswerRow, 'company_id' | 'received_id' | 'status_id'>,
  { state, message, looked }: Ended,
  tell: (queries: OwnerQueries, row: InvoiceRow, answer: AnswerRow) => Promise<void>
): Promise<AnswerRow> {
  return owner.transaction().execute(async (queries) => {
    const { rows: [answer] } = await sql<AnswerRow>`update received_statuses set state = ${state}, message = ${message},
        looks = looks + ${looked === undefined ? 0 : 1},
        next_at = ${state === 'refused' ? sql`null` : looked === undefined ? sql`next_at` : laterLook(now)}
      where company_id = ${companyId} and status_id = ${statusId} returning *`.execute(queries)
    const { rows: [row] } = await sql<InvoiceRow>`update received_invoices set speaking_until = null, status = (
        select saying->>'code' from received_statuses where company_id = ${companyId} and received_id = ${receivedId} and state = 'said'
        order by number desc limit 1
      ) where company_id = ${companyId} and received_id = ${receivedId} returning *`.execute(queries)
    if (answer === undefined || row === undefined) throw new Error(`The status ${statusId} of a received invoice is gone.`)
    await tell(queries, row, answer)
    return answer
  })
}

const laterLook = (now: Database['now']) => sql`case looks when 0 then ${nextLook(now, 1)} when 1 then ${nextLook(now, 2)} end`

/** Something that was said so many seconds ago, and by which provider. */
export type DueAnswer = AnswerRow & Pick<InvoiceRow, 'provider_code' | 'sandbox'> & { since: number }

/** Takes what was said and is to be looked up, so many at most. Nobody says anything of its invoice meanwhile. */
export async function takeAnswers ({ owner, now }: Database, max: number): Promise<DueAnswer[]> {
  const { rows } = await sql<DueAnswer>`
    with due as (
      select company_id, received_id, status_id from received_statuses join received_invoices using (company_id, received_id)
      where received_statuses.next_at <= ${now} and removed_at is null and (speaking_until is null or speaking_until <= ${now})
      order by received_statuses.next_at limit ${max} for update skip locked
    ), held as (
      update received_invoices set speaking_until = ${now} + ${speakingLease} from due
      where received_invoices.company_id = due.company_id and received_invoices.received_id = due.received_id
      returning received_invoices.*
    )
    select received_statuses.*, extract(epoch from ${now} - said_at)::float as since, provider_code, sandbox
    from due join received_statuses using (company_id, received_id, status_id) join held using (company_id, received_id)`.execute(owner)
  // Of one invoice one is looked up at a time.
  return [...new Map(rows.map((row) => [row.received_id, row])).values()]
}
