import { type Kysely, sql } from 'kysely'

/**
 * Searching for dispatches. Under row-level security an index serves only conditions that cannot leak a row: comparisons of columns with
 * `=` and `<`, but no functions and no `@>`. So what is searched for has columns of its own, and each pair of metadata a row.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(search).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

const search = `
create function path_of (services text[]) returns text language sql immutable strict parallel safe
  return array_to_string(services, '/');
create function metadata_pair (name text, value text) returns bytea language sql immutable strict parallel safe
  return substring(sha256(convert_to(name || chr(31) || value, 'UTF8')) for 16);
alter table dispatches
  add column path text not null generated always as (path_of(services)) stored,
  add column recipient_key text generated always as (lower(recipient)) stored;
create table dispatch_metadata (
  company_id integer not null references companies,
  pair bytea not null,
  dispatch_id uuid not null references dispatches on delete cascade,
  primary key (company_id, pair, dispatch_id)
);
insert into dispatch_metadata (company_id, pair, dispatch_id)
  select company_id, metadata_pair(key, value), dispatch_id from dispatches, jsonb_each_text(metadata);
drop index dispatches_recipient, dispatches_metadata;
create index dispatches_recipient on dispatches (company_id, recipient_key, dispatch_id desc) where recipient_key is not null;
create index dispatches_path on dispatches (company_id, path, dispatch_id desc);
create index dispatches_test on dispatches (company_id, dispatch_id desc) where test;
create index dispatch_metadata_dispatch on dispatch_metadata (dispatch_id);
grant select, insert on dispatch_metadata to dispatch_company;
alter table dispatch_metadata enable row level security;
create policy company on dispatch_metadata to dispatch_company using (${own}) with check (${own});`
