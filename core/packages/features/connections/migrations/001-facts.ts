import { type Kysely, sql } from 'kysely'

/** What vendors have said of the accounts that are connected, by the names of the facts. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(facts).execute(db)
}

// Processes keep the facts with the configurations of a company: a change is told to all of them.
const facts = `
alter table connections add column facts jsonb not null default '{}';
drop trigger connections_change on connections;
create trigger connections_change after insert or delete or update of client, refusal, facts on connections
  for each row execute function note_change();`
