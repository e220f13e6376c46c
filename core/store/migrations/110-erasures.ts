import { type Kysely, sql } from 'kysely'

/**
 * Of what is append-only, timelines and the audit log can be emptied of what names a person, by a transaction of the owner that says so.
 * Companies have no right to change either.
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
  raise exception '% is append-only', tg_table_name;
end $$;`
