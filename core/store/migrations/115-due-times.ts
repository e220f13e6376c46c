import { type Kysely, sql } from 'kysely'

/** What a scheduled dispatch uses belongs to the time for which it is scheduled. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [month, spending, moving]) await sql.raw(part).execute(db)
}

const month = `
create function month_of(schedule jsonb, created_at timestamptz) returns date language sql stable as $$
  select date_trunc('month', coalesce((schedule->>'dueAt')::timestamptz, created_at) at time zone 'UTC')::date
$$;`

// As before (095), in a month that is given. The detail of DC429 names the budget and the month.
const spending = `
create function spend_budgets_in(company integer, dispatch uuid, of_unit text, more bigint, may_refuse boolean, in_month date) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  sent record;
  over uuid;
begin
  if more = 0 or not exists (select from budgets where company_id = company and unit = of_unit) then return; end if;
  perform from credits where company_id = company for update;
  select user_id::text as by_user, coalesce(in_month, month_of(schedule, created_at)) as month, (select actor->>'keyId' from events
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
  if found then
    raise exception using errcode = 'DC429', message = 'A budget is used up.', detail = over::text || ' ' || sent.month::text;
  end if;
end $$;
create or replace function spend_budgets(company integer, dispatch uuid, of_unit text, more bigint, may_refuse boolean) returns void
language sql security definer set search_path = public, pg_temp as $$
  select spend_budgets_in(company, dispatch, of_unit, more, may_refuse, null)
$$;`

// One that is moved to another month counts there. Who moves it may be refused; one that waits for its hours (it has a run) is not.
const moving = `
create function move_spending() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
declare
  before date := month_of(old.schedule, old.created_at);
  after date := month_of(new.schedule, new.created_at);
  credits bigint;
begin
  if before = after then return null; end if;
  select coalesce(sum(held + charged), 0) into credits from steps where company_id = new.company_id and dispatch_id = new.dispatch_id;
  perform spend_budgets_in(new.company_id, new.dispatch_id, 'credits', -credits, false, before);
  perform spend_budgets_in(new.company_id, new.dispatch_id, 'credits', credits, old.run_id is null, after);
  perform spend_budgets_in(new.company_id, new.dispatch_id, 'dispatches', -1, false, before);
  perform spend_budgets_in(new.company_id, new.dispatch_id, 'dispatches', 1, old.run_id is null, after);
  return null;
end $$;
create constraint trigger dispatches_move after update of schedule on dispatches deferrable initially deferred for each row
  when (not new.test and old.schedule is distinct from new.schedule) execute function move_spending();`
