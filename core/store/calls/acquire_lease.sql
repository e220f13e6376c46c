-- Takes the lease of a dispatch that nobody has, or that the run "ended" has, where it is in one of the states "from_states". It stays
-- what it is. Answers whether it was to be had. "known": what the process has seen of the database (follow.sql).
create function calls.acquire_lease(given jsonb, moment timestamptz) returns boolean language plpgsql as $$
declare
  taken record;
begin
  select * into taken from jsonb_to_record(given) as taken (company_id integer, dispatch_id uuid, run_id uuid,
    lease_seconds double precision, from_states text[], ended uuid, known jsonb);
  perform calls.become(taken.company_id, moment);
  perform calls.follow(taken.known);
  -- The commit does not wait for the disk. A lease that a crash of the database takes back has done nothing yet: whatever is done under it
  -- is committed after it.
  perform set_config('synchronous_commit', 'off', true);

  update dispatches set run_id = taken.run_id, leased_until = moment + make_interval(secs => taken.lease_seconds)
  where dispatch_id = taken.dispatch_id and company_id = taken.company_id and status = any (taken.from_states)
    and (run_id is null or run_id = taken.ended);
  return found;
end $$;
