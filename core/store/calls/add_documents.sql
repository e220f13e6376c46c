-- Records documents of a dispatch.
create function calls.add_documents(company integer, dispatch uuid, added jsonb, moment timestamptz) returns void language plpgsql as $$
begin
  insert into documents (document_id, company_id, dispatch_id, filename, content_type, size, sha256, pages, storage_key, created_at,
    expires_at)
  select document_id, company, dispatch, filename, content_type, size, sha256, pages, storage_key, moment, expires_at
  from jsonb_populate_recordset(null::documents, added);
end $$;
