-- Whether a configuration of a company may keep so many bytes under a key, in place of what stands there: by what "keep_state" was given.
-- What a release before this one has kept has no size, and counts as it is stored.
create function calls.has_room(company integer, size integer, given jsonb) returns boolean language sql as $$
  select count(*) < (given->>'most_keys')::integer
    and coalesce(sum(coalesce(bytes, octet_length(key) + pg_column_size(value))), 0) + size <= (given->>'most_bytes')::integer
  from provider_state
  where company_id = company and provider_code = given->>'provider_code'
    and user_id is not distinct from (given->>'user_id')::integer and key <> given->>'key'
$$;
