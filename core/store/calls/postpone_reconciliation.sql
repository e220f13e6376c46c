-- Ends a run that learnt nothing about a step in doubt, and says when it is looked at next. Once the time for looks is over, nothing is
-- held for it and what would follow it any longer; nothing follows a deferred one. Answers whether the run had the dispatch, and the step
-- was in doubt.
create function calls.postpone_reconciliation(given jsonb, moment timestamptz) returns boolean language plpgsql as $$
declare
  looked record;
  step record;
  next_look timestamptz;
begin
  select * into looked from jsonb_to_record(given) as looked (company_id integer, dispatch_id uuid, step_id uuid, run_id uuid, error jsonb,
    look_after double precision, look_last double precision);
  perform calls.become(looked.company_id, moment);

  update dispatches set run_id = null, leased_until = null
  where dispatch_id = looked.dispatch_id and company_id = looked.company_id and run_id = looked.run_id;
  if not found then
    return false;
  end if;
  select deferred_on, coalesce(uncertain_at, moment) as since into step from steps
  where step_id = looked.step_id and dispatch_id = looked.dispatch_id and company_id = looked.company_id
    and status in ('uncertain', 'calling') for update;
  if not found then
    return false;
  end if;

  next_look := calls.next_look_at(step.since, looked.look_after, looked.look_last, moment);
  update steps set status = 'uncertain', looks = looks + 1, error = coalesce(error, looked.error), next_look_at = next_look
  where step_id = looked.step_id and company_id = looked.company_id;
  update attempts set answered_at = moment, outcome = 'uncertain'
  where step_id = looked.step_id and company_id = looked.company_id and answered_at is null;
  if next_look is null then
    update steps set held = 0
    where dispatch_id = looked.dispatch_id and company_id = looked.company_id and held > 0
      and (step_id = looked.step_id or step.deferred_on is null and deferred_on is null);
  end if;
  return true;
end $$;
