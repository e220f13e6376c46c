import type { ConfiguredBy } from '@dispatch/contract'
import { sql } from 'kysely'

/** The columns of a step that begins again: with the first provider of its list, where it has one. */
export const firstOfList = {
  provider_code: sql<string | null>`coalesce(providers->0->>'code', provider_code)`,
  provider_version: sql<string | null>`coalesce(providers->0->>'version', provider_version)`,
  configured_by: sql<ConfiguredBy | null>`coalesce(providers->0->>'configuredBy', configured_by)`
}
