import { type Kysely, sql } from 'kysely'

/** Who a company is may be remembered by what asks for it, until it changes. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(`create trigger own_details_change after insert or update or delete on own_details
    for each row execute function note_change()`).execute(db)
}
