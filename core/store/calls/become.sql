-- Makes the rest of the transaction the company's: row-level security bounds what it reads and writes. The deferred trigger that moves
-- credits at the commit dates its entry in the ledger by the moment.
create function calls.become(company integer, moment timestamptz) returns void language plpgsql as $$
begin
  perform set_config('role', 'dispatch_company', true), set_config('app.company', company::text, true),
    set_config('app.moment', moment::text, true);
end $$;
