import { type Kysely, sql } from 'kysely'

/** Dispatches that wait, run under a lease, are tried again, asked after and acted upon later. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [dispatches, steps]) await sql.raw(part).execute(db)
}

// Whoever works on a dispatch holds a lease under the id of its run, and renews it; one that has run out was lost with its
// process. `detached`: no client waits for the end, which is called back.
const dispatches = `
alter table dispatches
  drop constraint dispatches_status_check,
  add check (status in ('queued', 'running', 'succeeded', 'failed', 'partial', 'uncertain', 'cancelled')),
  add column detached boolean not null default false,
  add column run_id uuid,
  add column leased_until timestamptz,
  add column next_try_at timestamptz,
  add check ((run_id is null) = (leased_until is null)),
  add check (next_try_at is null or status = 'queued');
create index dispatches_leased on dispatches (leased_until) where run_id is not null;
create index dispatches_queued on dispatches (next_try_at) where status = 'queued';`

// A step may have a template of its own. One that is deferred waits for an event of its dispatch, and is tried again by
// itself. A vendor's idempotency key stands for one generation of requests: what was surely refused begins another one. An
// uncertain step is looked at again.
const steps = `
alter table steps
  drop constraint steps_status_check,
  add check (status in ('planned', 'calling', 'accepted', 'rejected', 'unavailable', 'uncertain', 'waiting')),
  add column template_id integer,
  add column template_version integer,
  add column data jsonb,
  add column deferred_on text,
  add column generation integer not null default 0,
  add column uncertain_at timestamptz,
  add column looks integer not null default 0,
  add column next_look_at timestamptz,
  add column next_try_at timestamptz,
  add column tries integer not null default 0,
  add check (next_look_at is null or status = 'uncertain');
create index steps_uncertain on steps (step_id) where status = 'uncertain';
create index steps_looked_at on steps (next_look_at) where next_look_at is not null;
create index steps_tried_again on steps (next_try_at) where next_try_at is not null;
create index steps_deferred on steps (dispatch_id) where deferred_on is not null;`
