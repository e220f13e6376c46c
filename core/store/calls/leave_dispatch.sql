-- Gives the lease of a run back under which nothing was done: the dispatch is queued again, and due "seconds" later by the job that is
-- given. Answers whether the run had it.
create function calls.leave_dispatch(given jsonb, moment timestamptz) returns boolean language plpgsql as $$
declare
  given_back record;
begin
  select * into given_back from jsonb_to_record(given) as given_back (company_id integer, dispatch_id uuid, run_id uuid,
    seconds double precision, jobs jsonb);
  perform calls.become(given_back.company_id, moment);

  update dispatches set status = 'queued', run_id = null, leased_until = null, next_try_at = moment + make_interval(secs => given_back.seconds)
  where dispatch_id = given_back.dispatch_id and company_id = given_back.company_id and run_id = given_back.run_id;
  if not found then
    return false;
  end if;
  perform calls.add_jobs(given_back.jobs);
  return true;
end $$;
