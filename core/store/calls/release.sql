-- Makes due at once those of a company's dispatches, and of the steps beside their paths, that still wait for another try; their tries begin anew.
-- Whoever is at one of them keeps it. Each gets an entry in its timeline and its job, the company one in its audit log. "waiting" and the rows of
-- "jobs" are in the same order. Answers how many there were.
create function calls.release(given jsonb, moment timestamptz, jobs jsonb) returns integer language plpgsql as $$
declare
  company integer := (given->>'company_id')::integer;
  due jsonb;
begin
  perform calls.become(company, moment);
  with asked as (
    select (each->>'dispatch_id')::uuid as dispatch_id, (each->>'step_id')::uuid as step_id, ((jobs->>'rows')::jsonb)->(nth::integer - 1) as job
    from jsonb_array_elements(given->'waiting') with ordinality as waiting (each, nth)
  ), waiting as (
    select dispatches.dispatch_id, job from asked, dispatches where asked.step_id is null and dispatches.dispatch_id = asked.dispatch_id
      and company_id = company and status = 'queued' and run_id is null and next_try_at > moment for update of dispatches skip locked
  ), beside as (
    select steps.dispatch_id, steps.step_id, job from asked, steps where steps.step_id = asked.step_id and company_id = company and next_try_at > moment for update of steps skip locked
  ), moved as (
    update dispatches set next_try_at = moment from waiting where dispatches.dispatch_id = waiting.dispatch_id and company_id = company
  ), renewed as (
    update steps set tries = 0 from waiting where steps.dispatch_id = waiting.dispatch_id and company_id = company and status = 'unavailable' and deferred_on is null and rest_of is null
  ), moved_beside as (
    update steps set next_try_at = moment, tries = 0 from beside where steps.step_id = beside.step_id and company_id = company
  ), released as (
    select dispatch_id, null::uuid as step_id, job from waiting union all select dispatch_id, step_id, job from beside
  ), noted as (
    insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at) select company, dispatch_id, step_id, given->>'kind', given->'actor', '{}', moment from released
  ), audited as (
    insert into audit (company_id, user_id, user_company_id, impersonator_id, key_id, action, object_kind, object_id, facts, address, request_id, at)
    select company, user_id, user_company_id, impersonator_id, key_id, action, object_kind, object_id, jsonb_build_object('dispatches', dispatches), address, request_id, at
    from (select count(distinct dispatch_id) as dispatches from released) as counted, jsonb_to_record(given->'audit') as change (user_id integer, user_company_id integer,
      impersonator_id integer, key_id text, action text, object_kind text, object_id text, address text, request_id text, at timestamptz)
    where dispatches > 0
  )
  select coalesce(jsonb_agg(job), '[]') into due from released;
  if due <> '[]' then perform calls.add_jobs(jsonb_build_array(jsonb_build_object('statement', jobs->>'statement', 'rows', due::text))); end if;
  return jsonb_array_length(due);
end $$;
