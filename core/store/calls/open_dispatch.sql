-- Records a dispatch with its steps and its document, and binds its idempotency key. Under the lease of a run it is running at once, else
-- it is queued and its job added. With "attempt" the first attempt at a step, which is given as "calling", begins with it. Answers "opened", or "short": the free credits do not cover the price, and nothing was recorded. Fails
-- with DC409 where the key is bound to another dispatch; its commit fails with DC402 where others have taken meanwhile what was free.
create function calls.open_dispatch(given jsonb, moment timestamptz) returns text language plpgsql as $$
declare
  opened record;
  first_status text := 'queued';
  job_due timestamptz := moment;
  lease_end timestamptz;
begin
  select * into opened from jsonb_to_record(given) as opened (company_id integer, dispatch_id uuid, dispatch jsonb, steps jsonb,
    documents jsonb, events jsonb, attempt jsonb, price integer, idempotency_key text, fingerprint text, run_id uuid,
    lease_seconds double precision, jobs jsonb);
  perform calls.become(opened.company_id, moment);

  if opened.price > 0 then
    perform from credits where company_id = opened.company_id and balance - held >= opened.price;
    if not found then
      return 'short';
    end if;
  end if;

  if opened.run_id is not null then
    first_status := 'running';
    job_due := null;
    lease_end := moment + make_interval(secs => opened.lease_seconds);
  end if;
  insert into dispatches (dispatch_id, company_id, user_id, impersonator_id, status, services, template_id, template_version, data,
    metadata, document_type, document_number, recipient, callback_url, request_id, api_version, test, created_at, detached, run_id, leased_until,
    next_try_at)
  select opened.dispatch_id, opened.company_id, user_id, impersonator_id, first_status, services, template_id, template_version, data,
    metadata, document_type, document_number, recipient, callback_url, request_id, api_version, test, moment, opened.run_id is null, opened.run_id,
    lease_end, job_due
  from jsonb_populate_record(null::dispatches, opened.dispatch);
  if opened.dispatch->'metadata' <> '{}' then
    insert into dispatch_metadata (company_id, pair, dispatch_id)
    select opened.company_id, metadata_pair(key, value), opened.dispatch_id from jsonb_each_text(opened.dispatch->'metadata');
  end if;
  if opened.documents <> '[]' then
    perform calls.add_documents(opened.company_id, opened.dispatch_id, opened.documents, moment);
  end if;
  insert into steps (step_id, company_id, dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by,
    sandbox, fields, request_settings, price, held, status, document_id, template_id, template_version, data, deferred_on, providers, traceparent)
  select step_id, opened.company_id, opened.dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by,
    sandbox, fields, request_settings, price, held, status, document_id, template_id, template_version, data, deferred_on, providers, traceparent
  from jsonb_populate_recordset(null::steps, opened.steps);
  insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
  select opened.company_id, opened.dispatch_id, step_id, kind, actor, facts, moment
  from jsonb_populate_recordset(null::events, opened.events);
  if opened.attempt is not null then
    insert into attempts (step_id, number, company_id, provider_version, started_at)
    values ((opened.attempt->>'step_id')::uuid, 1, opened.company_id, opened.attempt->>'provider_version', moment);
  end if;

  if opened.idempotency_key is not null then
    insert into idempotency_keys (company_id, key, fingerprint, dispatch_id, created_at)
    values (opened.company_id, opened.idempotency_key, opened.fingerprint, opened.dispatch_id, moment) on conflict do nothing;
    if not found then
      raise exception using errcode = 'DC409', message = 'The idempotency key is bound to another dispatch.';
    end if;
  end if;

  perform calls.add_jobs(opened.jobs);
  return 'opened';
end $$;
