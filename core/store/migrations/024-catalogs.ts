import { type Kysely, sql } from 'kysely'

/** The catalogs as they were last read, and which packages they have revoked. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db)
}

// `configured` names the keys that the configuration trusts: with others a catalog is read as if for the first time. `keys` are those that
// the text was verified with.
const tables = `
create table catalogs (
  source text primary key,
  configured text not null,
  keys json not null,
  serial bigint not null,
  jws text not null,
  fetched_at timestamptz not null
);
alter table adapter_packages add column revoked text;`
