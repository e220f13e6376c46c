import { type Kysely, sql } from 'kysely'

const own = sql.raw('company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)')

/**
 * Separates the companies in a table that has a `company_id`: each reads and writes its own rows alone, whatever a query asks for. For
 * the migration that has created the table.
 */
export async function companyTable (db: Kysely<unknown>, name: string): Promise<void> {
  const table = sql.table(name)
  await sql`grant select, insert, update, delete on ${table} to dispatch_company`.execute(db)
  await sql`alter table ${table} enable row level security`.execute(db)
  await sql`create policy company on ${table} to dispatch_company using (${own}) with check (${own})`.execute(db)
}
