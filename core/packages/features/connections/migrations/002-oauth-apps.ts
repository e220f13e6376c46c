import { type Kysely, sql } from 'kysely'

/** The clients that the operator has registered at vendors, for all companies. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(apps).execute(db)
}

// `hosts`: those to which the secret may be sent, as the provider named them when it was given.
const apps = `
create table oauth_apps (
  app_id uuid primary key default gen_random_uuid(),
  provider_code text not null,
  sandbox boolean not null,
  client_id text not null,
  client_secret jsonb,
  hosts text[] not null,
  changed_at timestamptz not null,
  unique (provider_code, sandbox)
);`
