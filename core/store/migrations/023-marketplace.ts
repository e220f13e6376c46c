import { type Kysely, sql } from 'kysely'

/** The packages of adapters that operators have taken in, and which of them serves under each code. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db)
}

// Adapters are nobody's but the operators': no role of companies reads these tables. The order of a form's fields counts, so `manifest`
// keeps its text. `definition` is what the adapter's process said of
// itself when the package was taken in; with it a host knows the adapter without running it. `files` has the SHA-256 of each file.
const tables = `
create table adapter_packages (
  integrity text primary key,
  code text not null,
  version text not null,
  package_name text not null,
  author text,
  manifest json not null,
  definition text not null,
  files jsonb not null,
  bytes bytea not null check (octet_length(bytes) <= 8388608),
  at timestamptz not null,
  unique (code, version)
);
create table adapters (
  code text primary key,
  integrity text not null references adapter_packages,
  previous text references adapter_packages,
  enabled boolean not null,
  companies integer[],
  hosts text[] not null,
  services text[] not null,
  changed_at timestamptz not null
);`
