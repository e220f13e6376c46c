-- Keeps what a provider remembers for a company under a key: with "only_first" only where nothing stands there, with "run_id" only as long
-- as that run has its dispatch. The value is dated "moment". Answers the value that stands there then, and null where the run has lost
-- the dispatch.
create function calls.keep_state(given jsonb, moment timestamptz) returns jsonb language plpgsql as $$
declare
  kept record;
  there jsonb;
begin
  select * into kept from jsonb_to_record(given) as kept (company_id integer, provider_code text, key text,
    only_first boolean, dispatch_id uuid, run_id uuid);
  perform calls.become(kept.company_id, moment);

  if kept.run_id is not null then
    perform from dispatches where dispatch_id = kept.dispatch_id and company_id = kept.company_id and run_id = kept.run_id for share;
    if not found then
      return null;
    end if;
  end if;
  insert into provider_state as state (company_id, provider_code, key, value, updated_at)
  values (kept.company_id, kept.provider_code, kept.key, given->'value', moment)
  on conflict (company_id, provider_code, key) do update set value = excluded.value, updated_at = excluded.updated_at
    where not kept.only_first
  returning state.value into there;
  if not found then
    select value into there from provider_state as state
    where company_id = kept.company_id and provider_code = kept.provider_code and state.key = kept.key;
  end if;
  return there;
end $$;
