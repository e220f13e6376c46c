import { type Kysely, sql } from 'kysely'

/** The domains of e-mail addresses that lead people to the single sign-on of their company. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(domains).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// A domain leads to one company. Operators alone say so: it is they who know whose a domain is.
const domains = `
create table company_domains (
  domain text primary key,
  company_id integer not null references companies
);
create index company_domains_company on company_domains (company_id);
grant select, insert, update, delete on company_domains to dispatch_company;
alter table company_domains enable row level security;
create policy company on company_domains to dispatch_company using (${own}) with check (${own});`
