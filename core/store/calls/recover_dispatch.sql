-- Takes a lost lease away. A provider that was being called may have accepted: its step is uncertain since the lease ended, when its
-- process was surely gone. What was being done here was not done. A dispatch that was running is uncertain with a step of its path, else
-- queued, with its job. Answers "queued", "uncertain" or "unchanged", and null where the lease is not lost.
create function calls.recover_dispatch(given jsonb, moment timestamptz) returns text language plpgsql as $$
declare
  recovered record;
  lost record;
  doubtful record;
  path_in_doubt boolean := false;
  recovery text := 'unchanged';
begin
  select * into recovered from jsonb_to_record(given) as recovered (company_id integer, dispatch_id uuid, error jsonb,
    look_after double precision, jobs jsonb);
  perform calls.become(recovered.company_id, moment);

  select status, leased_until into lost from dispatches
  where dispatch_id = recovered.dispatch_id and company_id = recovered.company_id and run_id is not null and leased_until < moment
  for update;
  if not found then
    return null;
  end if;

  update steps set status = 'planned'
  where dispatch_id = recovered.dispatch_id and company_id = recovered.company_id and status = 'calling' and provider_code is null;
  for doubtful in
    update steps set status = 'uncertain', providers = case when restored_to is not null then providers end, error = recovered.error,
      uncertain_at = coalesce(uncertain_at, case when restored_to is null then lost.leased_until else moment end),
      next_look_at = moment + make_interval(secs => recovered.look_after)
    where dispatch_id = recovered.dispatch_id and company_id = recovered.company_id and status = 'calling'
    returning step_id, deferred_on, rest_of
  loop
    update attempts set answered_at = lost.leased_until, outcome = 'uncertain', error = recovered.error
    where step_id = doubtful.step_id and company_id = recovered.company_id and answered_at is null;
    if doubtful.deferred_on is null and doubtful.rest_of is null then
      path_in_doubt := true;
    end if;
  end loop;

  if lost.status <> 'running' then
    update dispatches set run_id = null, leased_until = null
    where dispatch_id = recovered.dispatch_id and company_id = recovered.company_id;
  elsif path_in_doubt then
    recovery := 'uncertain';
    lost.status := recovery;
    update dispatches set status = 'uncertain', detached = true, finished_at = moment, next_try_at = null, run_id = null,
      leased_until = null
    where dispatch_id = recovered.dispatch_id and company_id = recovered.company_id;
  else
    recovery := 'queued';
    lost.status := recovery;
    update dispatches set status = 'queued', detached = true, finished_at = null, next_try_at = moment, run_id = null, leased_until = null
    where dispatch_id = recovered.dispatch_id and company_id = recovered.company_id;
  end if;
  insert into events (company_id, dispatch_id, kind, actor, facts, at)
  values (recovered.company_id, recovered.dispatch_id, 'recovered', '{"kind":"system"}', jsonb_build_object('status', lost.status), moment);
  if recovery = 'queued' then
    perform calls.add_jobs(recovered.jobs);
  end if;
  return recovery;
end $$;
