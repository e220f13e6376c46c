import { type Kysely, sql } from 'kysely'

/**
 * Text messages are asked after too. A deferred step whose event cannot come any more is skipped; those of a company are found by their
 * state.
 */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [followed, deferred]) await sql.raw(part).execute(db)
}

const followed = `
drop index steps_followed;
create index steps_followed on steps (provider_code, service, step_id) where status = 'accepted' and service in ('esign', 'postal', 'sms', 'invoicing') and not delivery_settled;`

const deferred = `
alter table steps
  drop constraint steps_status_check,
  add constraint steps_status_check check (status in ('planned', 'calling', 'accepted', 'rejected', 'unavailable', 'uncertain', 'waiting', 'skipped'));
create index steps_deferred_state on steps (company_id, status, dispatch_id) where deferred_on is not null;`
