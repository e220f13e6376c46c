-- Records a dispatch with its steps and its document, and binds its idempotency key. Under the lease of a run it is running at once, else
-- it is queued and its job added; one with a time of its own ("due_at") is due then. With "attempt" the first attempt at a step,
-- which is given as "calling", begins with it. Answers "opened", or "short": the free credits do not cover the price, and nothing was
-- recorded. Fails with DC409 where the key is bound to another dispatch; its commit fails with DC402 where others have taken meanwhile what
-- was free. Fails with DC410 where the company is being deleted. The columns of what is given are named: to fill a whole row of a table
-- takes twice as long.
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

  -- Whoever deletes the company waits for this dispatch, and counts it.
  perform pg_advisory_xact_lock_shared(hashtextextended('leaving', opened.company_id));
  perform from companies where company_id = opened.company_id and leaving_at is not null;
  if found then
    raise exception using errcode = 'DC410', message = 'The company is being deleted.';
  end if;
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
  insert into dispatches (dispatch_id, company_id, user_id, impersonator_id, status, services, template_id, template_version,
    brand_version, data, metadata, document_type, document_number, recipient, callback_url, request_id, api_version, test, created_at,
    detached, run_id, leased_until, next_try_at, schedule, in_batch)
  select opened.dispatch_id, opened.company_id, user_id, impersonator_id, first_status, services, template_id, template_version,
    brand_version, data, metadata, document_type, document_number, recipient, callback_url, request_id, api_version, test, moment,
    opened.run_id is null, opened.run_id, lease_end, coalesce(due_at, job_due), schedule, in_batch
  from jsonb_to_record(opened.dispatch) as dispatch (user_id integer, impersonator_id integer, services text[], template_id integer,
    template_version integer, brand_version integer, data jsonb, metadata jsonb, document_type text, document_number text,
    recipient text, callback_url text, request_id text, api_version text, test boolean, schedule jsonb, due_at timestamptz, in_batch uuid);
  if opened.dispatch->'metadata' <> '{}' then
    insert into dispatch_metadata (company_id, pair, dispatch_id)
    select opened.company_id, metadata_pair(key, value), opened.dispatch_id from jsonb_each_text(opened.dispatch->'metadata');
  end if;
  if opened.documents <> '[]' then
    perform calls.add_documents(opened.company_id, opened.dispatch_id, opened.documents, moment);
  end if;
  insert into steps (step_id, company_id, dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by,
    sandbox, fields, request_settings, price, held, status, document_id, template_id, template_version, brand_version, data, deferred_on,
    providers, traceparent)
  select step_id, opened.company_id, opened.dispatch_id, position, service, provider_code, provider_version, chosen_by, configured_by,
    sandbox, fields, request_settings, price, held, status, document_id, template_id, template_version, brand_version, data, deferred_on,
    providers, traceparent
  from jsonb_to_recordset(opened.steps) as step (step_id uuid, position integer, service text, provider_code text, provider_version text,
    chosen_by text, configured_by text, sandbox boolean, fields jsonb, request_settings jsonb, price integer, held integer, status text,
    document_id uuid, template_id integer, template_version integer, brand_version integer, data jsonb, deferred_on text, providers jsonb,
    traceparent text);
  insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
  select opened.company_id, opened.dispatch_id, step_id, kind, actor, facts, moment
  from jsonb_to_recordset(opened.events) as event (step_id uuid, kind text, actor jsonb, facts jsonb);
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

  if opened.jobs <> '[]' then
    perform calls.add_jobs(opened.jobs);
  end if;
  return 'opened';
end $$;
