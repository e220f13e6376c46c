import { type Kysely, sql } from 'kysely'

/**
 * Searching for a part of a number or of a recipient. Under row-level security no index serves `like`, so the function asks as its owner,
 * of the dispatches of the company alone whose transaction it is. Its index, `dispatches_text`, is made while everybody works
 * (concurrent-indexes.ts), where the database has the extensions for it. Without it the function finds nothing.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [texts, search]) await sql.raw(part).execute(db)
}

// Text of ASCII is the most, and quick. A long row of marks would take long, and nobody searches for the end of a text of 200 characters.
const texts = `
create function folded (text) returns text language sql immutable parallel safe return case
  when octet_length($1) = length($1) then lower($1)
  else lower(regexp_replace(normalize($1, nfkd), '[\\u0300-\\u036f]', '', 'g')) end;
create function dispatch_text (document_number text, recipient text) returns text language sql immutable parallel safe
  return folded(left(coalesce(document_number, ''), 200) || chr(31) || left(coalesce(recipient, ''), 200));`

const search = `
-- The newest dispatches before one that have a part in their number or recipient, whatever its case and accents. A part that many have
-- is met among the newest; of one that few have, the index knows all.
create function dispatches_with (part text, before uuid, most integer) returns uuid[] language plpgsql stable security definer
  set search_path = public, pg_temp set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
declare
  own constant integer := nullif(current_setting('app.company', true), '')::integer;
  walked constant integer := greatest(2000, 10 * most);
  pattern constant text := '%' || regexp_replace(folded(left(part, 200)), '([\\\\%_])', '\\\\\\1', 'g') || '%';
  met uuid[];
begin
  -- What has no three letters or digits in a row is in no index of three.
  if pattern !~ '[[:alnum:]]{3}' or not exists (select from pg_index where indexrelid = to_regclass('dispatches_text') and indisvalid) then
    return '{}';
  end if;
  met := array(select dispatch_id from (
      select dispatch_id, document_number, recipient from dispatches where company_id = own and (before is null or dispatch_id < before)
      order by dispatch_id desc limit walked
    ) as newest where dispatch_text(document_number, recipient) like pattern order by dispatch_id desc limit most);
  if cardinality(met) = most then
    return met;
  end if;
  -- Those that have not ended are not in the index: each of their states would be written to it.
  return array(select dispatch_id from (
      select dispatch_id from dispatches where company_id = own and finished_at is not null
        and dispatch_text(document_number, recipient) like pattern and (before is null or dispatch_id < before)
      union all
      select dispatch_id from dispatches where company_id = own and finished_at is null and status in ('queued', 'running')
        and dispatch_text(document_number, recipient) like pattern and (before is null or dispatch_id < before)
      offset 0
    ) as having_it order by dispatch_id desc limit most);
end $$;`
