import { companyTable } from '@dispatch/plugins/feature'
import { type Kysely, sql } from 'kysely'

/** What companies want to be told of, and the messages that are still to be sent. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [alerts, messages]) await sql.raw(part).execute(db)
  for (const table of ['alerts', 'alert_messages']) await companyTable(db, table)
}

// `chat`: the sealed address. `number` is raised by each change, of the alert or of its state: what was looked at before counts no more.
// `clear_since`: when a look first found that it is over. `undelivered`: the ways whose last message did not arrive.
const alerts = `
create table alerts (
  company_id integer not null references companies,
  alert_id uuid not null,
  name text not null,
  kind text not null,
  condition jsonb not null,
  language text not null,
  emails text[] not null,
  callback boolean not null,
  chat_format text,
  chat_host text,
  chat jsonb,
  firing boolean not null default false,
  number integer not null default 0,
  moved_at timestamptz,
  clear_since timestamptz,
  looked_at timestamptz not null default '-infinity',
  tried_at timestamptz,
  undelivered text[] not null default '{}',
  created_at timestamptz not null,
  primary key (company_id, alert_id)
);
create index alerts_looked on alerts (looked_at)`

// They name nobody: to whom a message goes is read when it is sent. `number`: that of the alert.
const messages = `
create table alert_messages (
  company_id integer not null references companies,
  alert_id uuid not null,
  number integer not null,
  way text not null,
  event text not null,
  facts jsonb not null,
  at timestamptz not null,
  tries integer not null default 0,
  next_at timestamptz not null,
  primary key (company_id, alert_id, number, way),
  foreign key (company_id, alert_id) references alerts on delete cascade
);
create index alert_messages_next on alert_messages (next_at)`
