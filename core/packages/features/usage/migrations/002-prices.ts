import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** What companies pay, so that usage is told in money too. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`create table usage_prices (
    company_id integer primary key references companies,
    currency text not null,
    prices jsonb not null
  )`.execute(db)
  await companyTable(db, 'usage_prices')
}
