-- Gives a step a document that a provider made, in place of ours, and records those that are new. "made" is noted beside what was made
-- for it. Changes nothing of a dispatch that is forgotten.
create function calls.replace_document(given jsonb, moment timestamptz) returns void language plpgsql as $$
declare
  replaced record;
begin
  select * into replaced from jsonb_to_record(given) as replaced (company_id integer, dispatch_id uuid, step_id uuid, document_id uuid,
    documents jsonb, made jsonb);
  perform calls.become(replaced.company_id, moment);

  perform from dispatches where dispatch_id = replaced.dispatch_id and company_id = replaced.company_id for key share;
  if not found then
    return;
  end if;

  if replaced.documents <> '[]' then
    perform calls.add_documents(replaced.company_id, replaced.dispatch_id, replaced.documents, moment);
  end if;
  insert into events (company_id, dispatch_id, step_id, kind, actor, facts, at)
  values (replaced.company_id, replaced.dispatch_id, replaced.step_id, 'fetched', '{"kind":"system"}',
    jsonb_build_object('documentId', replaced.document_id), moment);
  update steps set document_id = replaced.document_id where step_id = replaced.step_id and company_id = replaced.company_id;
  if replaced.made is not null then
    update steps set made = coalesce(made, '{}') || replaced.made where step_id = replaced.step_id and company_id = replaced.company_id;
  end if;
end $$;
