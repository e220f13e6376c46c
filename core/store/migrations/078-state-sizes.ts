import { type Kysely, sql } from 'kysely'

/** How large what a provider remembers is, and whose configuration has written it, so that each has a bounded part; it can be deleted. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(sizes).execute(db)
}

// `user_id`: null where the company's configuration has written it. `bytes`: of the key and the value in JSON; null of what a release
// before this one has written.
const sizes = `
alter table provider_state add column user_id integer, add column bytes integer;
grant delete on provider_state to dispatch_company;`
