import type { CompanyQueries, Database, OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import type { ReceivedState } from '../contract/received-invoices.ts'
import { type Facts, type InvoiceRow, type StoredInvoice, tablesIn, type Trouble } from './tables.ts'

export type InvoiceRef = { companyId: number, receivedId: string }

/** Which are wanted. `test`: those of test environments alone. */
export type ReceivedFilter = { test: boolean, state?: ReceivedState | undefined, status?: string | undefined, number?: string | undefined }

/** A page of what a company has received, the newest first. */
export async function listInvoices (
  database: Database,
  companyId: number,
  { test, state, status, number }: ReceivedFilter,
  { limit, after }: { limit: number, after: string | undefined }
): Promise<InvoiceRow[]> {
  return database.company(companyId,
    (queries) =>
      tablesIn(queries).selectFrom('received_invoices').selectAll().where('company_id', '=', companyId).where('removed_at', 'is', null)
        .$if(test, (query) => query.where('sandbox', '=', true))
        .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'fetching'))
        .$if(status !== undefined, (query) =>
          status === 'none' ? query.where('status', 'is', null) : query.where('status', '=', status ?? ''))
        .$if(number !== undefined, (query) => query.where('number', '=', number ?? ''))
        .$if(after !== undefined, (query) => query.where('received_id', '<', after ?? ''))
        .orderBy('received_id', 'desc').limit(limit).execute())
}

export async function findInvoice (queries: Database['owner'], { companyId, receivedId }: InvoiceRef): Promise<InvoiceRow | undefined> {
  return tablesIn(queries).selectFrom('received_invoices').selectAll().where('company_id', '=', companyId)
    .where('received_id', '=', receivedId).where('removed_at', 'is', null).executeTakeFirst()
}

/** The same, which nobody else changes until the transaction ends. */
export async function lockInvoice (queries: CompanyQueries, { companyId, receivedId }: InvoiceRef): Promise<InvoiceRow | undefined> {
  return tablesIn(queries).selectFrom('received_invoices').selectAll().where('company_id', '=', companyId)
    .where('received_id', '=', receivedId).where('removed_at', 'is', null).forUpdate().executeTakeFirst()
}

/** Takes e-invoices whose files are to be fetched, so many at most: one that fails comes again later and later. */
export async function takeInvoices ({ owner, now }: Database, max: number): Promise<InvoiceRow[]> {
  const { rows } = await sql<InvoiceRow>`update received_invoices
    set tries = tries + 1, next_at = ${now} + least(interval '2 minutes' * 2 ^ least(tries, 10), interval '6 hours')
    where (company_id, received_id) in (
      select company_id, received_id from received_invoices where state = 'fetching' and removed_at is null and next_at <= ${now}
      order by next_at limit ${max} for update skip locked
    ) returning *`.execute(owner)
  return rows
}

/** The outcome of fetching a file. `number` and `parties` stand in the file. */
export type Outcome = {
  state: Exclude<ReceivedState, 'fetching'>
  problem?: Trouble
  file?: StoredInvoice
  facts?: Facts
  parties?: string
}

/** Records a file once, with what `tell` records; false where somebody else has, or it is gone. */
export async function noteOutcome (
  { owner }: Database,
  { company_id: companyId, received_id: receivedId }: InvoiceRow,
  { state, problem, file, facts, parties }: Outcome,
  tell: (queries: OwnerQueries, row: InvoiceRow) => Promise<void>
): Promise<boolean> {
  const json = (value: object | undefined): string | null => value === undefined ? null : JSON.stringify(value)
  return owner.transaction().execute(async (queries) => {
    const row = await tablesIn(queries).updateTable('received_invoices').set({
      state,
      problem: json(problem),
      file: json(file),
      facts: json(facts),
      number: facts?.number ?? null,
      parties: parties ?? null
    }).where('company_id', '=', companyId).where('received_id', '=', receivedId).where('state', '=', 'fetching').where('removed_at', 'is',
      null)
      .returningAll().executeTakeFirst()
    if (row === undefined) return false
    await tell(queries, row)
    return true
  })
}

/** Whose bytes are to be removed. */
export type Removable = Pick<InvoiceRow, 'company_id' | 'received_id' | 'file'>

/** What a hidden e-invoice is without. Its bytes are still to be removed. */
export const emptied = sql`parties = null, number = null, facts = null, problem = null, file = file - 'filename'`

/**
 * Hides what was taken in before a time, of a company or of all but some, and answers how many there were. Nothing stays but the id at the
 * vendor, so that it is not taken in again, and where the bytes are, until they are removed.
 */
export async function hideOld (
  { owner, now }: Database,
  { before, only, but, limit }: { before: Date, only?: number, but: readonly number[], limit: number }
): Promise<number> {
  const { rows: [hidden] } = await sql<{ count: number }>`with hidden as (
      update received_invoices set removed_at = ${now}, ${emptied} where (company_id, received_id) in (
        select company_id, received_id from received_invoices where taken_at <= ${before} and removed_at is null
          and (${only ?? null}::integer is null or company_id = ${only ?? null}) and not company_id = any (${[...but]}::integer[])
        limit ${limit} for update skip locked
      ) returning company_id, received_id
    ), unsaid as (
      delete from received_statuses using hidden
      where received_statuses.company_id = hidden.company_id and received_statuses.received_id = hidden.received_id
    ) select count(*)::integer as count from hidden`.execute(owner)
  return hidden?.count ?? 0
}

/** Those that nobody gets any more and that have bytes, of a company or of all. */
export async function listRemovable ({ owner }: Database, { only, limit }: { only?: number, limit: number }): Promise<Removable[]> {
  return tablesIn(owner).selectFrom('received_invoices').select(['company_id', 'received_id', 'file']).where('removed_at', 'is not', null)
    .where('file', 'is not', null).$if(only !== undefined, (query) => query.where('company_id', '=', only ?? 0)).limit(limit).execute()
}

/** Notes that the bytes of some are gone. */
export async function noteWithout ({ owner }: Database, gone: readonly Removable[]): Promise<void> {
  for (const { company_id: companyId, received_id: receivedId } of gone) {
    await tablesIn(owner).updateTable('received_invoices').set({ file: null }).where('company_id', '=', companyId)
      .where('received_id', '=', receivedId).execute()
  }
}

/** Which of these files of a company have a row. */
export async function recordedKeys ({ owner }: Database, companyId: number, keys: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ key: string }>`select file->>'key' as key from received_invoices
    where company_id = ${companyId} and file->>'key' = any (${[...keys]}::text[])`.execute(owner)
  return new Set(rows.map(({ key }) => key))
}

export async function companyIds ({ owner }: Database): Promise<number[]> {
  const rows = await tablesIn(owner).selectFrom('receptions').select('company_id').distinct().execute()
  return rows.map((row) => row.company_id)
}
