import { type Kysely, sql } from 'kysely'

/** Credits move when the transaction commits that changes what steps hold or were charged. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(moving).execute(db)
}

// The row of a company's credits is what all its dispatches share. It is locked by the commit alone, within one message: whoever stands
// still in the middle of a transaction keeps nobody's credits. `app.moment`, by which the entry in the ledger is dated, is set by the
// transactions that leave it to this; those of an older process, which runs beside newer ones, move credits themselves. DC402: fewer are
// free than are to be held.
const moving = `
create function move_credits() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
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
  return null;
end $$;
create constraint trigger steps_hold_first after insert on steps deferrable initially deferred for each row
  when (new.held > 0 and current_setting('app.moment', true) <> '') execute function move_credits();
create constraint trigger steps_hold_other after update on steps deferrable initially deferred for each row
  when ((new.held <> old.held or new.charged <> old.charged) and current_setting('app.moment', true) <> '') execute function move_credits();`
