import { type Kysely, sql } from 'kysely'

/** The triggers look for budgets themselves: each dispatch called `spend_budgets` two or three times, also where a company has none. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [moving, counting]) await sql.raw(part).execute(db)
}

// As before (095), but for the look at budgets.
const moving = `
create or replace function move_credits() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  more bigint := new.held - case when tg_op = 'UPDATE' then old.held else 0 end;
  charge bigint := new.charged - case when tg_op = 'UPDATE' then old.charged else 0 end;
  left_over bigint;
begin
  update credits set held = held + more, balance = balance - charge where company_id = new.company_id and (more <= 0 or balance - held >= more) returning balance into left_over;
  if not found then raise exception using errcode = 'DC402', message = 'The free credits do not cover the price.'; end if;
  if charge > 0 then
    insert into ledger (company_id, kind, amount, balance, dispatch_id, step_id, reason, at)
    values (new.company_id, 'debit', -charge, left_over, new.dispatch_id, new.step_id, 'Dispatch accepted', current_setting('app.moment')::timestamptz);
  end if;
  if more + charge <> 0 and exists (select from budgets where company_id = new.company_id and unit = 'credits') then
    perform spend_budgets(new.company_id, new.dispatch_id, 'credits', more + charge, more > 0);
  end if;
  return null;
end $$;`

const counting = `
create or replace function count_dispatch() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if exists (select from budgets where company_id = new.company_id and unit = 'dispatches') then
    perform spend_budgets(new.company_id, new.dispatch_id, 'dispatches', 1, true);
  end if;
  return null;
end $$;`
