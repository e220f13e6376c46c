-- Holds the price of one step, unless it is held already; its commit fails with DC402 where the free credits do not cover it. Answers
-- whether it was held now.
create function calls.hold_step(given jsonb, moment timestamptz) returns boolean language plpgsql as $$
declare
  asked record;
begin
  select * into asked from jsonb_to_record(given) as asked (company_id integer, step_id uuid, price integer);
  perform calls.become(asked.company_id, moment);

  update steps set held = asked.price where step_id = asked.step_id and company_id = asked.company_id and held = 0;
  return found;
end $$;
