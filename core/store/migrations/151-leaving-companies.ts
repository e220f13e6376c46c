import { type Kysely, sql } from 'kysely'

/**
 * Of what is append-only, all that is a company's can be deleted with the company, by a transaction of the owner that says so. Companies
 * have no right to delete any of it.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(refusal).execute(db)
}

const refusal = `
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'events' and tg_op = 'DELETE' and current_setting('app.forgets', true) = 'on' then
    return null;
  end if;
  if tg_table_name in ('events', 'audit') and tg_op = 'UPDATE' and current_setting('app.erases', true) = 'on' then
    return null;
  end if;
  if tg_table_name in ('events', 'audit', 'ledger') and tg_op = 'DELETE' and current_setting('app.company_leaves', true) = 'on' then
    return null;
  end if;
  raise exception '% is append-only', tg_table_name;
end $$;`
