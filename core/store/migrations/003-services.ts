import { type Kysely, sql } from 'kysely'

/** Services without a template or a provider, and content that is no document. */
export async function up (db: Kysely<unknown>): Promise<void> {
  for (const part of [dispatches, steps]) await sql.raw(part).execute(db)
}

const dispatches = `
alter table dispatches
  alter column template_id drop not null,
  alter column template_version drop not null,
  add column callback_url text;`

// A service that is done here has no provider. What was made for a step besides its document is kept: it is never made again.
const steps = `
alter table steps
  alter column provider_code drop not null,
  alter column provider_version drop not null,
  alter column chosen_by drop not null,
  alter column configured_by drop not null,
  add column made jsonb,
  add check (num_nulls(provider_code, provider_version, chosen_by, configured_by) in (0, 4));`
