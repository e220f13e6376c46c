-- Records what came of a step with its price, and what follows. Answers whether nobody waits for the end any more, and null where the run has not the
-- dispatch, or the step is in none of the states "from".
create function calls.settle(given jsonb, moment timestamptz, jobs jsonb) returns boolean language plpgsql as $$
declare
  settled record;
  before record;
  waits boolean;
  accepted boolean := given->>'outcome' = 'accepted';
  keeps boolean := given->>'outcome' = 'uncertain' or given ? 'try_after';
  try_at timestamptz := moment + make_interval(secs => (given->>'try_after')::double precision);
  doubt timestamptz;
begin
  select * into settled from jsonb_to_record(given) as settled (company_id integer, dispatch_id uuid, step_id uuid, run_id uuid, outcome text, status text, ends boolean, detached boolean,
    response jsonb, error jsonb, kind text, actor jsonb, facts jsonb, look_after double precision, look_last double precision);
  perform calls.become(settled.company_id, moment);
  select not dispatches.detached and not settled.detached into waits from dispatches
  where dispatch_id = settled.dispatch_id and company_id = settled.company_id and run_id = settled.run_id for update;
  if not found then return null; end if;
  select held, price, uncertain_at into before from steps
  where step_id = settled.step_id and company_id = settled.company_id and status in (select jsonb_array_elements_text(given->'from')) for update;
  if not found then return null; end if;
  doubt := coalesce(before.uncertain_at, moment);
  update steps set status = settled.outcome, remote_id = settled.response->>'id', response = settled.response, error = settled.error,
    charged = case when accepted then before.price else 0 end, held = case when keeps then before.held else 0 end,
    tries = case when try_at is null then tries else tries + 1 end, next_try_at = case when settled.status is null then try_at end,
    generation = case when settled.outcome = 'rejected' then generation + 1 else generation end,
    uncertain_at = case when settled.outcome = 'uncertain' then doubt end, looks = case when settled.outcome = 'uncertain' then looks else 0 end,
    -- A second from now at the earliest; null when the time for looks is over.
    next_look_at = case when doubt + make_interval(secs => settled.look_last) > moment then least(doubt + make_interval(secs => settled.look_last),
      greatest(doubt + make_interval(secs => settled.look_after), moment + interval '1 second')) end
  where step_id = settled.step_id and company_id = settled.company_id;
  if settled.ends then
    update steps set held = 0 where dispatch_id = settled.dispatch_id and company_id = settled.company_id and step_id <> settled.step_id and held > 0 and deferred_on is null;
  end if;
  update attempts set answered_at = moment, outcome = settled.outcome, error = settled.error where step_id = settled.step_id and company_id = settled.company_id and answered_at is null;
  update dispatches set status = coalesce(settled.status, status), detached = not waits,
    run_id = case when settled.status = 'running' then run_id end, leased_until = case when settled.status = 'running' then leased_until end,
    finished_at = case when settled.status is null then finished_at when settled.status in ('running', 'queued') then null else moment end,
    next_try_at = case when settled.status is null then next_try_at when settled.status = 'queued' then coalesce(try_at, moment) end
  where dispatch_id = settled.dispatch_id and company_id = settled.company_id;
  insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
  values (settled.company_id, settled.dispatch_id, settled.step_id, settled.kind, settled.actor,
    settled.facts || case when try_at is null then '{}' else jsonb_build_object('nextTryAt', to_char(try_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end, moment);
  perform calls.add_jobs(jobs);
  return not waits;
end $$;
