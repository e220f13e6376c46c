import { type Kysely, sql } from 'kysely'

/**
 * What an API key may be used for. Keys that are there, and those that older releases make, keep all that their user may do: no client
 * breaks.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(scopes).execute(db)
}

const scopes = `
alter table api_keys add column scopes text[] not null
  default '{send,read_own,read_all,templates,configuration,callbacks,audit,platform}';
grant select (scopes) on api_keys to dispatch_company;`
