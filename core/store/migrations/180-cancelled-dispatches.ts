import { type Kysely, sql } from 'kysely'

/** A dispatch that is cancelled before anything of it was sent gives back its place in the budgets that count dispatches. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`
create function uncount_dispatch() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform spend_budgets(new.company_id, new.dispatch_id, 'dispatches', -1, false);
  return null;
end $$`.execute(db)
  await sql`
create constraint trigger dispatches_unspend after update of status on dispatches deferrable initially deferred for each row
  when (not new.test and new.status = 'cancelled' and old.status <> 'cancelled') execute function uncount_dispatch()`.execute(db)
}
