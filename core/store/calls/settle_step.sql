-- Records what came of a step with its price, and what follows. "status" is what the dispatch becomes: with "running" its run goes on,
-- else the run ends. Without it the step is beside the path of its dispatch, which stays what it is. With "next" the run goes on with the
-- step, which waits for that provider then. A step in doubt has no other providers any more. Answers "awaited" where a client waits for
-- the end, else "detached". Answers null, and changes nothing, where the run has not the dispatch, or the step is in none of the states
-- "from_states". With "untold" nobody tells endpoints of the end: where no client waits and the company has some, it answers "untold", and
-- changes nothing.
create function calls.settle_step(given jsonb, moment timestamptz) returns text language plpgsql as $$
declare
  settled record;
  step record;
  now_detached boolean;
  try_at timestamptz;
begin
  select * into settled from jsonb_to_record(given) as settled (company_id integer, dispatch_id uuid, step_id uuid, run_id uuid,
    from_states text[], outcome text, response jsonb, error jsonb, kind text, actor jsonb, facts jsonb, status text, detached boolean,
    try_after double precision, look_after double precision, look_last double precision, next jsonb, jobs jsonb,
    untold boolean);
  perform calls.become(settled.company_id, moment);

  select detached or settled.detached into now_detached from dispatches
  where dispatch_id = settled.dispatch_id and company_id = settled.company_id and run_id = settled.run_id for update;
  if not found then
    return null;
  end if;
  select price, 0 as charged, held, tries, generation, looks, uncertain_at, restored_to, null::timestamptz as next_look_at,
    null::timestamptz as next_try_at into step from steps
  where step_id = settled.step_id and company_id = settled.company_id and status = any (settled.from_states) for update;
  if not found then
    return null;
  end if;

  if settled.untold and now_detached and (exists (select from callback_endpoints
    where company_id = settled.company_id and enabled and removed_at is null)
    or exists (select from event_feeds where company_id = settled.company_id)) then
    return 'untold';
  end if;

  if settled.try_after is not null then
    try_at := moment + make_interval(secs => settled.try_after);
    step.tries := step.tries + 1;
    settled.facts := settled.facts ||
      jsonb_build_object('nextTryAt', to_char(try_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
    if settled.status is null then
      step.next_try_at := try_at;
    end if;
  elsif settled.outcome <> 'uncertain' and settled.next is null then
    step.held := 0;
  end if;
  if settled.outcome = 'uncertain' then
    step.uncertain_at := coalesce(step.uncertain_at, moment);
    step.next_look_at := calls.next_look_at(step.uncertain_at, settled.look_after, settled.look_last, moment);
  else
    step.uncertain_at := null;
    step.restored_to := null;
    step.looks := 0;
  end if;
  if settled.outcome = 'accepted' then
    step.charged := step.price;
  elsif settled.outcome = 'rejected' then
    step.generation := step.generation + 1;
  end if;
  update steps set status = case when settled.next is null then settled.outcome else 'planned' end, remote_id = settled.response->>'id',
    response = settled.response, error = case when settled.next is null then settled.error end,
    provider_code = coalesce(settled.next->>'code', provider_code), provider_version = coalesce(settled.next->>'version', provider_version),
    configured_by = coalesce(settled.next->>'configuredBy', configured_by),
    providers = case when settled.outcome = 'uncertain' and step.restored_to is null then null else providers end,
    charged = step.charged, held = step.held, tries = step.tries, next_try_at = step.next_try_at, generation = step.generation,
    uncertain_at = step.uncertain_at, looks = step.looks, next_look_at = step.next_look_at, restored_to = step.restored_to
  where step_id = settled.step_id and company_id = settled.company_id;
  update attempts set answered_at = moment, outcome = settled.outcome, error = settled.error
  where step_id = settled.step_id and company_id = settled.company_id and answered_at is null;

  if settled.next is not null then
    update dispatches set detached = now_detached
    where dispatch_id = settled.dispatch_id and company_id = settled.company_id and detached <> now_detached;
  elsif settled.status is null then
    update dispatches set detached = now_detached, run_id = null, leased_until = null
    where dispatch_id = settled.dispatch_id and company_id = settled.company_id;
  elsif settled.status = 'running' then
    update dispatches set status = 'running', detached = now_detached, finished_at = null, next_try_at = null
    where dispatch_id = settled.dispatch_id and company_id = settled.company_id;
  elsif settled.status = 'queued' then
    update dispatches set status = 'queued', detached = now_detached, finished_at = null, next_try_at = coalesce(try_at, moment),
      run_id = null, leased_until = null
    where dispatch_id = settled.dispatch_id and company_id = settled.company_id;
  else
    update dispatches set status = settled.status, detached = now_detached, finished_at = moment, next_try_at = null, run_id = null,
      leased_until = null
    where dispatch_id = settled.dispatch_id and company_id = settled.company_id;
  end if;
  if settled.status in ('succeeded', 'failed', 'partial', 'cancelled') then
    -- What was to follow is done no more; a deferred step holds its own price. Mostly there is nothing, and to look costs less.
    perform from steps where dispatch_id = settled.dispatch_id and company_id = settled.company_id and step_id <> settled.step_id
      and held > 0 and deferred_on is null;
    if found then
      update steps set held = 0 where dispatch_id = settled.dispatch_id and company_id = settled.company_id
        and step_id <> settled.step_id and held > 0 and deferred_on is null;
    end if;
  end if;

  insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
  values (settled.company_id, settled.dispatch_id, settled.step_id, settled.kind, settled.actor, settled.facts, moment);
  if settled.jobs <> '[]' then
    perform calls.add_jobs(settled.jobs);
  end if;
  return case when now_detached then 'detached' else 'awaited' end;
end $$;
