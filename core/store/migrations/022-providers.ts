import { type Kysely, sql } from 'kysely'

/**
 * To whom provider codes belong, which folders have passed their trial, and which providers each process runs. `number` counts what every
 * process must have read the folders after.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(`
create table provider_pins (code text primary key, package_name text not null, author text, folder text not null, at timestamptz not null);
create table provider_trials (key text primary key, at timestamptz not null);
create table provider_reloads (only_row boolean primary key default true check (only_row), number bigint not null);
insert into provider_reloads (number) values (0);
create table provider_processes (
  process_id uuid primary key,
  machine text not null,
  pid integer not null,
  number bigint not null,
  providers jsonb not null,
  seen_at timestamptz not null
);`).execute(db)
}
