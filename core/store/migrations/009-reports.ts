import { type Kysely, sql } from 'kysely'

/** Invoices are asked after too, where their vendor tells only then whether it took them. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(followed).execute(db)
}

const followed = `
drop index steps_followed;
create index steps_followed on steps (provider_code, service, step_id) where status = 'accepted' and service in ('esign', 'postal', 'invoicing') and not delivery_settled;`
