-- Commits that a step is about to be done, with what was made for it. Answers the number of the attempt, or 0 where no provider is
-- called. Answers null, and changes nothing, where the run has not the dispatch, or the step does not wait to be done: one that may have
-- been done by a database that is lost is in doubt first. "known": what the process has seen of the database (follow.sql).
create function calls.begin_attempt(given jsonb, moment timestamptz) returns integer language plpgsql as $$
declare
  begun record;
  nth integer := 0;
begin
  select * into begun from jsonb_to_record(given) as begun (company_id integer, dispatch_id uuid, step_id uuid, run_id uuid,
    provider_code text, provider_version text, configured_by text, document_id uuid, made jsonb, documents jsonb, events jsonb, known jsonb);
  perform calls.become(begun.company_id, moment);
  perform calls.follow(begun.known);

  perform from dispatches where dispatch_id = begun.dispatch_id and company_id = begun.company_id and run_id = begun.run_id for share;
  if not found then
    return null;
  end if;
  perform from steps where step_id = begun.step_id and company_id = begun.company_id and status in ('planned', 'unavailable', 'uncertain')
    and (restored_to is null or provider_code is null or status = 'uncertain')
  for no key update;
  if not found then
    return null;
  end if;

  if begun.documents <> '[]' then
    perform calls.add_documents(begun.company_id, begun.dispatch_id, begun.documents, moment);
  end if;
  update steps set status = 'calling', provider_code = coalesce(begun.provider_code, provider_code),
    provider_version = begun.provider_version, configured_by = coalesce(begun.configured_by, configured_by), error = null, next_look_at = null, next_try_at = null,
    document_id = coalesce(begun.document_id, document_id), made = coalesce(begun.made, made)
  where step_id = begun.step_id and company_id = begun.company_id;
  insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
  select begun.company_id, begun.dispatch_id, begun.step_id, kind, '{"kind":"system"}', facts, moment
  from jsonb_to_recordset(begun.events) as event (kind text, facts jsonb);
  if begun.provider_version is not null then
    insert into attempts (step_id, number, company_id, provider_version, started_at)
    select begun.step_id, count(*) + 1, begun.company_id, begun.provider_version, moment from attempts
    where attempts.step_id = begun.step_id
    returning number into nth;
  end if;
  return nth;
end $$;
