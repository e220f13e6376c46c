-- Keeps what a provider remembers for a company under a key: with "only_first" only where nothing stands there, with "run_id" only as long
-- as that run has its dispatch. The value is dated "moment"; after "ttl" seconds it is as if it had been deleted. Answers the value that
-- stands there then, and null where the run has lost the dispatch. With "most_keys" and "most_bytes" it counts against the configuration
-- that writes it (that of "user_id", or the company's), and raises DC413 where there is no room: what was not written since "stale", or
-- has expired, makes some first. Writes of a company that are counted take turns, so that none of them overlooks another one.
create function calls.keep_state(given jsonb, moment timestamptz) returns jsonb language plpgsql as $$
declare
  kept record;
  size integer := octet_length(given->>'key') + octet_length((given->'value')::text);
  expires timestamptz;
  before record;
  there jsonb;
begin
  select * into kept from jsonb_to_record(given) as kept (company_id integer, user_id integer, provider_code text, key text,
    only_first boolean, dispatch_id uuid, run_id uuid, most_keys integer, most_bytes integer, stale interval,
    ttl double precision);
  expires := moment + make_interval(secs => kept.ttl);
  perform calls.become(kept.company_id, moment);

  if kept.run_id is not null then
    perform from dispatches where dispatch_id = kept.dispatch_id and company_id = kept.company_id and run_id = kept.run_id for share;
    if not found then
      return null;
    end if;
  end if;
  if kept.most_keys is not null then
    perform pg_advisory_xact_lock(hashtextextended(format('provider_state %s', kept.company_id), 0));
    select value, bytes >= size and user_id is not distinct from kept.user_id as suffices, expires_at <= moment as expired into before
    from provider_state as state where company_id = kept.company_id and provider_code = kept.provider_code
      and state.key = kept.key;
    if found and kept.only_first and before.expired is not true then
      return before.value;
    end if;
    if before.suffices is not true and not calls.has_room(kept.company_id, size, given) then
      delete from provider_state where company_id = kept.company_id and provider_code = kept.provider_code
        and user_id is not distinct from kept.user_id and (updated_at < moment - kept.stale or expires_at <= moment);
      if not calls.has_room(kept.company_id, size, given) then
        raise exception 'There is no room for more of what % remembers.', kept.provider_code using errcode = 'DC413';
      end if;
    end if;
  end if;
  insert into provider_state as state (company_id, user_id, provider_code, key, value, bytes, updated_at, expires_at)
  values (kept.company_id, kept.user_id, kept.provider_code, kept.key, given->'value', size, moment, expires)
  on conflict (company_id, provider_code, key) do update
    set value = excluded.value, bytes = excluded.bytes, user_id = excluded.user_id, updated_at = excluded.updated_at,
      expires_at = excluded.expires_at
    where not kept.only_first or state.expires_at <= moment
  returning state.value into there;
  if not found then
    select value into there from provider_state as state
    where company_id = kept.company_id and provider_code = kept.provider_code and state.key = kept.key;
  end if;
  return there;
end $$;
