-- Adds jobs by the statements of the queue itself, each with one parameter. The queue's tables are the owner's: so is the rest of the
-- transaction.
create function calls.add_jobs(added jsonb) returns void language plpgsql as $$
declare
  job record;
begin
  perform set_config('role', 'none', true);
  for job in select * from jsonb_to_recordset(added) as job (statement text, rows text) loop
    execute job.statement using job.rows;
  end loop;
end $$;
