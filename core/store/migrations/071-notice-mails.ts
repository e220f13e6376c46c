import { type Kysely, sql } from 'kysely'

/** In which language people are mailed, and which mail tells them of what: so it is sent once, whatever happens in between. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [languages, mails]) await sql.raw(part).execute(db)
}

// The language of the last sign-in at the console; null where there was none.
const languages = `
alter table users add column language text;
grant select (language), update (language) on users to dispatch_company;`

// `mail_id`: the dispatch of the mail, whose id is known before it is recorded. `mailed_at`: when a process has taken the notice to mail
// it, as a release before this one understands it. `recorded_at`: when the dispatch was there.
const mails = `
alter table notices add column mail_id uuid, add column recorded_at timestamptz;
create index notices_mails on notices (mail_id) where mail_id is not null;`
