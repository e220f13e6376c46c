import { type Kysely, sql } from 'kysely'

/**
 * Steps, attempts, events and idempotency keys refer to their dispatch, and it to its company: that each of them also proved the company,
 * and each event its step, took an eighth of the database's time for a dispatch, and made all dispatches of a company share locks on its
 * row. Row-level security still holds each row to the company that writes it.
 *
 * Transactions of dispatches lock these tables in more than one order. So all locks are taken within 100 ms or given back, which is less
 * than the server waits before it looks for a deadlock; then it is tried again.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`do $$ begin
    for try in 1..200 loop
      begin
        set local lock_timeout = '100ms';
        alter table steps drop constraint steps_company_id_fkey;
        alter table attempts drop constraint attempts_company_id_fkey;
        alter table idempotency_keys drop constraint idempotency_keys_company_id_fkey;
        alter table events drop constraint events_company_id_fkey, drop constraint events_step_id_fkey;
        return;
      exception when lock_not_available then
        perform pg_sleep(0.05);
      end;
    end loop;
    raise 'The tables of dispatches were busy for half a minute: try again when there is less to do.';
  end $$`.execute(db)
}
