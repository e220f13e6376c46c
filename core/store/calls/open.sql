-- Records a dispatch with its steps and its document, binds its idempotency key, and adds the job that goes on with it. Answers "opened" or "short":
-- the free credits do not cover the price, and nothing was recorded. Fails with DC409 where the key is bound to another dispatch, and with DC402
-- where others have taken at the same moment what was free.
create function calls.open(given jsonb, moment timestamptz, jobs jsonb) returns text language plpgsql as $$
declare
  opened record;
  price integer := (given->>'price')::integer;
begin
  select * into opened from jsonb_to_record(given) as opened (dispatch_id uuid, company_id integer, user_id integer, impersonator_id integer, status text, template_id integer, template_version integer,
    data jsonb, metadata jsonb, document_type text, document_number text, recipient text, callback_url text, request_id text, run_id uuid, lease_seconds double precision, test boolean,
    documents jsonb, steps jsonb, actor jsonb, facts jsonb, key text, fingerprint text);
  perform calls.become(opened.company_id, moment);
  if price > 0 and not exists (select from credits where company_id = opened.company_id and balance - held >= price) then return 'short'; end if;
  insert into dispatches (dispatch_id, company_id, user_id, impersonator_id, status, services, template_id, template_version, data, metadata, document_type, document_number, recipient, callback_url,
    request_id, created_at, detached, run_id, leased_until, next_try_at, test)
  values (opened.dispatch_id, opened.company_id, opened.user_id, opened.impersonator_id, opened.status, array(select jsonb_array_elements_text(given->'services')), opened.template_id,
    opened.template_version, opened.data, opened.metadata, opened.document_type, opened.document_number, opened.recipient, opened.callback_url, opened.request_id, moment, opened.run_id is null,
    opened.run_id, moment + make_interval(secs => opened.lease_seconds), case when opened.run_id is null then moment end, opened.test);
  perform calls.add_documents(opened.company_id, opened.dispatch_id, opened.documents, moment);
  insert into steps (step_id, company_id, dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by, sandbox, fields, request_settings, price, held, status,
    document_id, template_id, template_version, data, deferred_on)
  select step_id, opened.company_id, opened.dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by, sandbox, fields, request_settings, step.price, held, status,
    document_id, case when position > 0 then template_id end, case when position > 0 then template_version end, case when position > 0 then data end, deferred_on
  from jsonb_to_recordset(opened.steps) as step (step_id uuid, position integer, service text, provider_code text, provider_version text, chosen_by text, configured_by text, sandbox boolean,
    fields jsonb, request_settings jsonb, price integer, held integer, status text, document_id uuid, template_id integer, template_version integer, data jsonb, deferred_on text);
  insert into events (company_id, dispatch_id, kind, actor, facts, at) values (opened.company_id, opened.dispatch_id, 'planned', opened.actor, opened.facts, moment);
  if opened.key is not null then
    insert into idempotency_keys (company_id, key, fingerprint, dispatch_id, created_at) values (opened.company_id, opened.key, opened.fingerprint, opened.dispatch_id, moment) on conflict do nothing;
    if not found then raise exception using errcode = 'DC409', message = 'The idempotency key is bound to another dispatch.'; end if;
  end if;
  perform calls.add_jobs(jobs);
  return 'opened';
end $$;
