import type { BatchTotals, RowsToApprove } from '@dispatch/core'
import type { CompanyQueries, Database } from '@dispatch/database'
import { mayHaveSealed, openText } from '@dispatch/tables'
import { sql } from 'kysely'
import type { BatchRef } from './batches.ts'
import type { RowFacts, RowState } from './tables.ts'

/** The rows of a batch that may still be sent. */
const unsent = ({ companyId, batchId }: BatchRef) =>
  sql`batch_rows where company_id = ${companyId} and batch_id = ${batchId} and state in ('waiting', 'handing') and facts is not null`

/** What rules look at of the rows that may still be sent: the most that one has, of those with the same services and currency. */
export async function listRowsToApprove (database: Database, ref: BatchRef): Promise<RowsToApprove[]> {
  return database.company(ref.companyId, async (queries) => {
    type Found = {
      services: RowsToApprove['services']
      recipients: number
      amount: number | null
      currency: string | null
      unknown: boolean
    }
    const { rows } = await sql<Found>`select facts->'services' as services, max((facts->>'recipients')::integer) as recipients,
        max((facts->>'amount')::double precision) as amount, facts->>'currency' as currency, facts ? 'unknown' as unknown
      from ${unsent(ref)} and facts->'services' <> '[]' group by facts->'services', facts->>'currency', facts ? 'unknown', facts ? 'amount'`
      .execute(queries)
    return rows.map(({ services, recipients, amount, currency, unknown }) => ({
      services,
      recipients,
      ...unknown
        ? { amount: 'unknown' as const }
        : amount !== null && { amount: { value: amount, ...currency !== null && { currency } } }
    }))
  })
}

/** What the rows come to that may still be sent. */
export async function totalsOf (queries: CompanyQueries, ref: BatchRef): Promise<BatchTotals> {
  const { rows: services } = await sql<BatchTotals['services'][number]>`select key as service, count(*)::integer as rows,
      sum(value::integer)::integer as credits from (select facts from ${unsent(ref)}) as row, jsonb_each_text(facts->'prices')
    group by key order by key`.execute(queries)
  const { rows: amounts } = await sql<BatchTotals['amounts'][number]>`select facts->>'currency' as currency, count(*)::integer as rows,
      coalesce(sum((facts->>'amount')::numeric), 0)::double precision as amount, count(*) filter (where facts ? 'unknown')::integer as unknown
    from (select facts from ${unsent(ref)}) as row where facts ?| array['amount', 'unknown'] group by facts->>'currency'
    order by rows desc, currency`.execute(queries)
  return { services, amounts }
}

/**
 * A row, as whoever decides about its batch reads it. `body`: what it changes of the common body; null once it is handed over, or where its
 * data key is lost.
 */
export type KeptRow = { number: number, row_id: string | null, state: RowState, facts: RowFacts | null, body: string | null }

/** Characters of the bodies of one page. */
const charactersTogether = 1024 * 1024
/** Rows that a search looks into at once, and how often one request does. */
const [searchedTogether, maxLooks] = [1_000, 10]

/**
 * So many rows of a batch after a number, in their order, up to a size: at least one, where there is one. `next`: the number after which
 * there are others. `search`: a part of what stands in them, whether letters are large or small; of many rows a page looks into some, and
 * may find none in them.
 */
export async function listKeptRows (
  database: Database,
  ref: BatchRef,
  { after, limit, search }: { after: number, limit: number, search?: string | undefined }
): Promise<KeptPage> {
  if (search === undefined) return readKeptRows(database, ref, { after, limit })
  const found: KeptRow[] = []
  let next: number | null = after
  for (let looks = 0; looks < maxLooks && next !== null && found.length <= limit; looks++) {
    const page: KeptPage = await readKeptRows(database, ref, { after: next, limit: searchedTogether, search })
    found.push(...page.rows.filter((row) => says(row, search)))
    next = page.next
  }
  const rows = found.slice(0, limit)
  return { rows, next: found.length > limit ? rows.at(-1)?.number ?? null : next }
}

function says ({ row_id: id, facts, body }: KeptRow, search: string): boolean {
  return [id, facts?.recipient, body].some((text) => text?.toLowerCase().includes(search.toLowerCase()) === true)
}

type KeptPage = { rows: KeptRow[], next: number | null }

/** A page; with `search` also of rows whose body is sealed, which only a look into it can tell. */
async function readKeptRows (
  database: Database,
  { companyId, batchId }: BatchRef,
  { after, limit, search }: { after: number, limit: number, search?: string }
): Promise<KeptPage> {
  const stored = await database.reading(companyId, async (queries) => {
    type Stored = Omit<KeptRow, 'body'> & { stored: string | null, found: number }
    const { rows } = await sql<Stored>`select number, row_id, state, facts, body as stored, found from (
        select *, (count(*) over ())::integer as found, sum(coalesce(length(body), 0)) over (order by number) - coalesce(length(body), 0) as before from (
          select number, row_id, state, facts, body from batch_rows
          where company_id = ${companyId} and batch_id = ${batchId} and number > ${after}${
      search === undefined
        ? sql``
        : sql` and (strpos(lower(concat_ws(' ', row_id, facts->>'recipient', body)), lower(${search})) > 0 or ${mayHaveSealed(sql`body`)})`
    } order by number limit ${limit + 1}
        ) as next
      ) as sized where before < ${charactersTogether} order by number limit ${limit}`.execute(queries)
    return rows
  })
  const rows: KeptRow[] = []
  for (const { stored: body, found: _, ...row } of stored) {
    rows.push({ ...row, body: body === null ? null : await openText(database.owner, body) ?? null })
  }
  return { rows, next: (stored[0]?.found ?? 0) > rows.length ? rows.at(-1)?.number ?? null : null }
}
