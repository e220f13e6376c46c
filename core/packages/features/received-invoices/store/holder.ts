import { type Holder, tableHolder } from '@dispatch/core'
import type { Database, OwnerQueries } from '@dispatch/database'
import { sql } from 'kysely'
import { emptied } from './invoices.ts'

/**
 * Received e-invoices that name a person, and what was said of them. Of one that is erased its id at the vendor stays, so that it is not
 * taken in again.
 */
export function receivedHolders (database: Database, clean: (companyId: number) => Promise<void>): Holder[] {
  const invoices = tableHolder(database, {
    kind: 'receivedInvoices',
    table: 'received_invoices',
    key: sql`received_id`,
    type: 'uuid',
    text: sql`jsonb_build_array(row->'parties', row->'number', row->'facts', row->'file'->'filename', row->'problem')::text`,
    own: sql`''::text`,
    only: sql<boolean>`removed_at is null`,
    hidden: ['file', 'next_at', 'tries'],
    async erase (queries, { companyId }, ids) {
      await sql`delete from received_statuses where company_id = ${companyId} and received_id = any (${[...ids]}::uuid[])`.execute(queries)
      const { numAffectedRows = 0n } = await sql`update received_invoices set removed_at = ${database.now}, ${emptied}
        where company_id = ${companyId} and received_id = any (${[...ids]}::uuid[])`.execute(queries)
      return Number(numAffectedRows)
    }
  })
  const answers = tableHolder(database, {
    kind: 'receivedInvoiceStatuses',
    table: 'received_statuses',
    key: sql`status_id`,
    type: 'uuid',
    text: sql`jsonb_build_array(row->'saying'->'reason', row->'message')::text`,
    erase: (queries, { companyId }, ids) => withoutWords(queries, companyId, ids)
  })
  return [answers, { ...invoices, clean }]
}

/** The answers stay, without their texts. */
async function withoutWords (queries: OwnerQueries, companyId: number, ids: readonly string[]): Promise<number> {
  const { numAffectedRows = 0n } = await sql`update received_statuses set saying = saying - 'reason', message = null
    where company_id = ${companyId} and status_id = any (${[...ids]}::uuid[])`.execute(queries)
  return Number(numAffectedRows)
}
