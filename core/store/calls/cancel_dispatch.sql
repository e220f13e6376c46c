-- Ends a dispatch that waits and of which no provider has accepted anything, and releases what it holds. Answers false, and changes
-- nothing, where it is no such dispatch.
create function calls.cancel_dispatch(given jsonb, moment timestamptz) returns boolean language plpgsql as $$
declare
  cancelled record;
begin
  select * into cancelled from jsonb_to_record(given) as cancelled (company_id integer, dispatch_id uuid, actor jsonb);
  perform calls.become(cancelled.company_id, moment);

  perform from dispatches
  where dispatch_id = cancelled.dispatch_id and company_id = cancelled.company_id and status = 'queued' and run_id is null for update;
  if not found then
    return false;
  end if;
  perform from steps where dispatch_id = cancelled.dispatch_id and company_id = cancelled.company_id and provider_code is not null
    and status in ('accepted', 'calling', 'uncertain');
  if found then
    return false;
  end if;

  update dispatches set status = 'cancelled', finished_at = moment, next_try_at = null
  where dispatch_id = cancelled.dispatch_id and company_id = cancelled.company_id;
  update steps set held = 0 where dispatch_id = cancelled.dispatch_id and company_id = cancelled.company_id and held > 0;
  insert into events (company_id, dispatch_id, kind, actor, facts, at)
  values (cancelled.company_id, cancelled.dispatch_id, 'cancelled', cancelled.actor, '{}', moment);
  return true;
end $$;
