-- What the calls have in common. A call is a transaction of one message: it begins, becomes the company, does its work and commits on the
-- server alone. "calls" stands for the schema of this version.

-- From here on the transaction is the company's: row-level security bounds what it sees. Credits move with its commit, dated by the moment.
create function calls.become(company integer, moment timestamptz) returns void language plpgsql as $$
begin
  perform set_config('role', 'dispatch_company', true), set_config('app.company', company::text, true), set_config('app.moment', moment::text, true);
end $$;

-- Adds jobs by the statements of the queue itself, each with one parameter. From here on the transaction is the owner's.
create function calls.add_jobs(jobs jsonb) returns void language plpgsql as $$
declare
  job record;
begin
  perform set_config('role', 'none', true);
  for job in select * from jsonb_to_recordset(jobs) as job (statement text, rows text) loop
    execute job.statement using job.rows;
  end loop;
end $$;

-- Records documents of a dispatch, as jsonb_to_recordset names them.
create function calls.add_documents(company integer, dispatch uuid, documents jsonb, moment timestamptz) returns void language plpgsql as $$
begin
  insert into documents (document_id, company_id, dispatch_id, filename, content_type, size, sha256, pages, storage_key, created_at, expires_at)
  select document_id, company, dispatch, filename, content_type, size, sha256, pages, storage_key, moment, expires_at
  from jsonb_to_recordset(documents) as document (document_id uuid, filename text, content_type text, size bigint, sha256 text, pages integer, storage_key text, expires_at timestamptz);
end $$;
