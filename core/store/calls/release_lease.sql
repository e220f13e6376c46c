-- Gives the lease of a run back, and changes nothing else. Where something is still under way the lease is left to run out, so that
-- recover_dispatch ends it. Answers whether it was given back.
create function calls.release_lease(given jsonb, moment timestamptz) returns boolean language plpgsql as $$
declare
  ended record;
begin
  select * into ended from jsonb_to_record(given) as ended (company_id integer, dispatch_id uuid, run_id uuid);
  perform calls.become(ended.company_id, moment);

  update dispatches set run_id = null, leased_until = null
  where dispatch_id = ended.dispatch_id and company_id = ended.company_id and run_id = ended.run_id and status <> 'running'
    and not exists (select from steps where dispatch_id = ended.dispatch_id and company_id = ended.company_id and status = 'calling');
  return found;
end $$;
