import { type Kysely, sql } from 'kysely'

/** Why a step has its delivery status, in the words of whoever declined, voided or refused it. Null: nobody has said. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table steps add column delivery_reason text;').execute(db)
}
