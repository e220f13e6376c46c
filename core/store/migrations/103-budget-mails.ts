import { type Kysely, sql } from 'kysely'

/** `mailed`: of which part of a budget, in percent, the admins of a company were mailed last, whatever its callbacks were told. */
export async function up (db: Kysely<unknown>): Promise<void> {
  await sql.raw(`
alter table budget_use add column mailed smallint not null default 0;
update budget_use set mailed = told;
drop index budget_use_due;
create index budget_use_due on budget_use (month) where told < 100 or mailed < 100;`).execute(db)
}
