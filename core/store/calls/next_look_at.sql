-- When a step is looked at next whose doubt began "since": "after" seconds later, but a second from now at the earliest. Null when the
-- time for looks is over, which is "last" seconds after the doubt began.
create function calls.next_look_at(since timestamptz, after double precision, last double precision, moment timestamptz)
returns timestamptz language plpgsql as $$
declare
  deadline timestamptz := since + make_interval(secs => last);
begin
  if deadline <= moment then
    return null;
  end if;
  return least(deadline, greatest(since + make_interval(secs => after), moment + interval '1 second'));
end $$;
