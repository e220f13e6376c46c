import { type Kysely, sql } from 'kysely'

/** Templates of companies: drafts, versions that are published, pictures. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [numbers, templates, versions, assets, isolation]) await sql.raw(part).execute(db)
}

// Below 1000 are the shared ones.
const numbers = `
create sequence template_numbers as integer start 1000;
grant usage on sequence template_numbers to dispatch_company;
select setval('template_numbers', greatest(1000, (select coalesce(max(template_id), 0) + 1 from templates)), false);`

// \`version\` is the one that dispatches use: none before the first is published. What is removed stays for the dispatches
// that have used it; its name is free.
const templates = `
alter table templates
  alter column version drop not null,
  add column removed_at timestamptz,
  drop constraint templates_company_id_name_key;
create unique index templates_name on templates (company_id, name) nulls not distinct where removed_at is null;`

// \`yaml\` is the text as it was written. \`size\` in bytes, of all that is stored: it is bounded for each company.
const versions = `
alter table template_versions
  add column yaml text not null default '',
  add column size integer not null default 0,
  add column user_id integer references users,
  add column published_at timestamptz;
update template_versions set published_at = created_at;
create index template_versions_company on template_versions (company_id) where company_id is not null;`

const assets = `
create table assets (
  company_id integer not null references companies,
  name text not null,
  uri text not null,
  sha256 text not null,
  width integer not null,
  height integer not null,
  size integer not null,
  created_at timestamptz not null,
  primary key (company_id, name)
);`

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// Rows without a company can be seen by all. They cannot be written: a company may set no \`company_id\` but its own, change
// none, and delete nothing.
const isolation = `
grant insert, update (name, version, updated_at, removed_at) on templates to dispatch_company;
grant insert, update (published_at) on template_versions to dispatch_company;
grant select, insert, delete on assets to dispatch_company;
alter table assets enable row level security;
create policy company on assets to dispatch_company using (${own}) with check (${own});`
