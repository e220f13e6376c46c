import { type Kysely, sql } from 'kysely'

/** Configurations that a person has connected with an account at the vendor (OAuth 2 with an authorization code). */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(connections).execute(db)
}

const own = 'company_id = (select nullif(current_setting(\'app.company\', true), \'\')::integer)'

// `client` is a digest of whom the tokens were issued to. One process renews a token at a time: until `renewing_until`. `version` counts
// the tokens. A request for a connection is kept for minutes; `sealed` holds its PKCE verifier and, once it has come, the vendor's code.
const connections = `
create table connections (
  account uuid primary key references configurations (account) on delete cascade,
  company_id integer not null references companies,
  client text not null,
  tokens jsonb not null,
  version integer not null default 1,
  usable_until timestamptz not null,
  renewing_until timestamptz,
  refusal text,
  connected_by integer not null references users,
  connected_at timestamptz not null
);
create table connection_requests (
  account uuid primary key references configurations (account) on delete cascade,
  company_id integer not null references companies,
  user_id integer not null references users,
  state bytea not null unique,
  client text not null,
  sealed jsonb not null,
  confirmation bytea,
  taken_until timestamptz,
  expires_at timestamptz not null
);
create index connections_company on connections (company_id);
create index connection_requests_company on connection_requests (company_id);
create trigger connections_change after insert or delete or update of client, refusal on connections for each row execute function note_change();
grant select, insert, update, delete on connections, connection_requests to dispatch_company;
alter table connections enable row level security;
create policy company on connections to dispatch_company using (${own}) with check (${own});
alter table connection_requests enable row level security;
create policy company on connection_requests to dispatch_company using (${own}) with check (${own});`
