-- Takes the leases of queued dispatches of any companies that no run has, and answers these as they are then. One that another transaction
-- changes meanwhile is left out, and so is one that was moved to a later time, whose job was for the earlier one, and one of a batch that
-- has paused. Each is looked up by its id: a statement for all of them would be planned anew each time, which takes as long as to run it. "known", which the first of
-- them has: what the process has seen of the database (follow.sql).
create function calls.take_queued(given jsonb, moment timestamptz) returns setof dispatches language plpgsql as $$
declare
  wanted record;
begin
  perform calls.follow(given->0->'known');
  -- The commit does not wait for the disk. A lease that a crash of the database takes back has done nothing yet: whatever is done under it
  -- is committed after it.
  perform set_config('synchronous_commit', 'off', true);

  for wanted in select * from jsonb_to_recordset(given) as wanted (company_id integer, dispatch_id uuid, run_id uuid,
    lease_seconds double precision) loop
    perform from dispatches where dispatch_id = wanted.dispatch_id and company_id = wanted.company_id and status = 'queued'
      and run_id is null and (schedule is null or next_try_at <= moment)
      and (in_batch is null or not exists (select from paused_batches
        where paused_batches.company_id = wanted.company_id and paused_batches.batch_id = dispatches.in_batch))
    for no key update skip locked;
    continue when not found;
    return query update dispatches set run_id = wanted.run_id, leased_until = moment + make_interval(secs => wanted.lease_seconds),
      status = 'running', next_try_at = null, finished_at = null
    where dispatch_id = wanted.dispatch_id and company_id = wanted.company_id returning dispatches.*;
  end loop;
end $$;
