import { type Kysely, sql } from 'kysely'

/** Processes keep what companies have set for how long their data are kept, until it changes. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql`create trigger retentions_change after insert or update or delete on retentions for each row execute function note_change()`
    .execute(db)
}
