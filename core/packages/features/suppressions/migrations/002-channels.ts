import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** Through which channels a company has ever sent nothing to somebody: of any other one, no dispatch asks the database. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [channels, noting, before]) await sql.raw(part).execute(db)
  await companyTable(db, 'suppressed_channels')
}

// A row stays when its last suppression goes: who adds one at the same time would not see that it is the first again.
const channels = `
create table suppressed_channels (
  company_id integer not null references companies,
  channel text not null,
  primary key (company_id, channel)
);
create trigger suppressed_channels_changed after insert or delete on suppressed_channels for each row execute function note_change();`

const noting = `
create function note_suppressed_channels() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into suppressed_channels (company_id, channel)
    select distinct company_id, channel from added order by company_id, channel on conflict do nothing;
  return null;
end $$;
create trigger suppressions_channels after insert on suppressions referencing new table as added
  for each statement execute function note_suppressed_channels();`

// A few looks at the unique index, however many there are: nobody can write to the table meanwhile.
const before = `
with recursive used as (
  (select company_id, channel from suppressions order by company_id, channel limit 1)
  union all select next.company_id, next.channel from used, lateral (select company_id, channel from suppressions
    where (company_id, channel) > (used.company_id, used.channel) order by company_id, channel limit 1) as next
)
insert into suppressed_channels (company_id, channel) select company_id, channel from used`
