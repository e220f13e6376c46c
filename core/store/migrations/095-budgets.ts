import { companyTable } from '@dispatch/tables'
import { type Kysely, sql } from 'kysely'

/** How much a company, a user or an API key may use in a month. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [tables, spending, moving, counting]) await sql.raw(part).execute(db)
  await companyTable(db, 'budgets')
  await companyTable(db, 'budget_use')
}

// `subject`: the number of the user or the id of the key, '' for the company. `hard`: nothing is begun that would go beyond `amount`.
// `told`: of which part of the amount, in percent, the company was told last.
const tables = `
create table budgets (
  company_id integer not null references companies,
  budget_id uuid not null,
  scope text not null check (scope in ('company', 'user', 'key')),
  subject text not null,
  unit text not null check (unit in ('credits', 'dispatches')),
  amount bigint not null check (amount >= 0),
  hard boolean not null,
  created_at timestamptz not null,
  primary key (company_id, budget_id),
  unique (company_id, unit, scope, subject)
);
create table budget_use (
  company_id integer not null,
  budget_id uuid not null,
  month date not null,
  used bigint not null,
  told smallint not null default 0,
  primary key (company_id, budget_id, month),
  foreign key (company_id, budget_id) references budgets on delete cascade
);
create index budget_use_due on budget_use (month, told) where told < 100;`

// What a dispatch uses belongs to the month in which it was created (UTC). The row of the company's credits is locked before those of
// budgets, by everybody, so that nobody waits for one who waits for them. DC429: a hard budget is used up. "may_refuse": what is charged
// after its hold was given back, because nobody knew what had become of it, was sent long ago, and counts whatever the budget says.
const spending = `
create or replace function spend_budgets(company integer, dispatch uuid, of_unit text, more bigint, may_refuse boolean) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  sent record;
  over uuid;
begin
  if more = 0 or not exists (select from budgets where company_id = company and unit = of_unit) then return; end if;
  perform from credits where company_id = company for update;
  select user_id::text as by_user, date_trunc('month', created_at at time zone 'UTC')::date as month, (select actor->>'keyId' from events
    where events.dispatch_id = dispatch and kind = 'planned' order by event_id limit 1) as by_key into sent
  from dispatches where dispatch_id = dispatch and company_id = company;
  with spent as (
    insert into budget_use (company_id, budget_id, month, used)
    select company, budget_id, sent.month, greatest(0, more) from budgets
    where company_id = company and unit = of_unit
      and (scope = 'company' or scope = 'user' and subject = sent.by_user or scope = 'key' and subject = sent.by_key)
    order by budget_id
    on conflict (company_id, budget_id, month) do update set used = greatest(0, budget_use.used + more) returning budget_id, used
  ) select budget_id into over from spent join budgets using (budget_id)
    where budgets.company_id = company and hard and may_refuse and more > 0 and used > amount limit 1;
  if found then raise exception using errcode = 'DC429', message = 'A budget is used up.', detail = over::text; end if;
end $$;`

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
  perform spend_budgets(new.company_id, new.dispatch_id, 'credits', more + charge, more > 0);
  return null;
end $$;`

// A dispatch counts once, when it is begun; one that fails has used its budget too.
const counting = `
create function count_dispatch() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform spend_budgets(new.company_id, new.dispatch_id, 'dispatches', 1, true);
  return null;
end $$;
create constraint trigger dispatches_spend after insert on dispatches deferrable initially deferred for each row
  when (not new.test) execute function count_dispatch();`
