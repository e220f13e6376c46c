-- Makes due at once those of a company's dispatches, and of the steps beside their paths ("step_id"), that still wait for another try,
-- and begins their tries anew. What somebody else has locked is left out. Each gets an entry in its timeline and its job, the company one
-- in its audit log. Answers how many there were.
create function calls.release_waiting(given jsonb, moment timestamptz) returns integer language plpgsql as $$
declare
  released record;
  waiting record;
  dispatches_released uuid[] := '{}';
  jobs_due jsonb := '[]';
begin
  select * into released from jsonb_to_record(given) as released (company_id integer, waiting jsonb, actor jsonb, audit jsonb,
    statement text);
  perform calls.become(released.company_id, moment);

  for waiting in select * from jsonb_to_recordset(released.waiting) as waiting (dispatch_id uuid, step_id uuid, job jsonb) loop
    if waiting.step_id is null then
      perform from dispatches where dispatch_id = waiting.dispatch_id and company_id = released.company_id and status = 'queued'
        and run_id is null and next_try_at > moment for update skip locked;
      continue when not found;
      update dispatches set next_try_at = moment where dispatch_id = waiting.dispatch_id and company_id = released.company_id;
      update steps set tries = 0 where dispatch_id = waiting.dispatch_id and company_id = released.company_id and status = 'unavailable'
        and deferred_on is null and rest_of is null;
    else
      -- As everywhere, the dispatch is locked before its step.
      perform from dispatches where dispatch_id = waiting.dispatch_id and company_id = released.company_id for key share skip locked;
      continue when not found;
      perform from steps where step_id = waiting.step_id and company_id = released.company_id and next_try_at > moment
      for update skip locked;
      continue when not found;
      update steps set next_try_at = moment, tries = 0 where step_id = waiting.step_id and company_id = released.company_id;
    end if;
    insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
    values (released.company_id, waiting.dispatch_id, waiting.step_id, 'released', released.actor, '{}', moment);
    dispatches_released := dispatches_released || waiting.dispatch_id;
    jobs_due := jobs_due || waiting.job;
  end loop;
  if jobs_due = '[]' then
    return 0;
  end if;

  insert into audit (company_id, user_id, user_company_id, impersonator_id, key_id, action, object_kind, object_id, facts, address,
    request_id, at)
  select released.company_id, user_id, user_company_id, impersonator_id, key_id, action, object_kind, object_id,
    jsonb_build_object('dispatches', (select count(distinct dispatch) from unnest(dispatches_released) as dispatch)), address,
    request_id, at
  from jsonb_populate_record(null::audit, released.audit);
  perform calls.add_jobs(jsonb_build_array(jsonb_build_object('statement', released.statement, 'rows', jobs_due::text)));
  return jsonb_array_length(jobs_due);
end $$;
