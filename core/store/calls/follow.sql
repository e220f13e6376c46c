-- Fails with DC503 where nothing may be begun: what the database may have done before it was put back to an earlier moment is not marked
-- yet, or the database is behind what the process has seen of it ("known": a life and its epoch), which nobody has noticed yet.
create function calls.follow(known jsonb) returns void language plpgsql as $$
declare
  present record;
begin
  select lineage, epoch, marking into present from lineages order by number desc limit 1;
  if not present.marking and (
    known is null
    or (present.lineage = (known->>'lineage')::uuid and present.epoch >= (known->>'epoch')::bigint)
    or (present.lineage <> (known->>'lineage')::uuid and exists (select from lineages where lineage = (known->>'lineage')::uuid))
  ) then
    return;
  end if;
  raise exception using errcode = 'DC503', message = 'The database was put back to an earlier moment.';
end $$;
