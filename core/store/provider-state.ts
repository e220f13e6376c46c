import { sql } from 'kysely'
import { DispatchError } from '../contract/errors.ts'
import type { Json } from '../contract/json.ts'
import type { State } from '../host/context.ts'
import { callOf } from './calls.ts'
import type { Database } from './database.ts'

/** Whose value it is, and where it stands; what several dispatches share may be among them. */
type Place = { companyId: number, providerCode: string, key: string }

/** What one provider remembers for one company, shared by all processes. */
export function createProviderState (database: Database, companyId: number, providerCode: string): State {
  return {
    async get (key) {
      const row = await database.company(companyId, (queries) => queries.selectFrom('provider_state').select('value').where('company_id', '=', companyId)
        .where('provider_code', '=', providerCode).where('key', '=', key).executeTakeFirst())
      return row?.value
    },
    put: async (key, value) => { await keep(database, { companyId, providerCode, key }, value) },
    putIfAbsent: (key, value) => keep(database, { companyId, providerCode, key }, value, { first: true })
  }
}

/** Keeps a value for a run, as long as it has its dispatch. Throws `conflict` when it has lost it. */
export async function keepForRun (database: Database, { companyId, dispatchId, runId, providerCode, key, value }: Place & { dispatchId: string, runId: string, value: string }): Promise<void> {
  const kept = await keep(database, { companyId, providerCode, key }, value, { dispatch_id: dispatchId, run_id: runId })
  if (kept === null) throw new DispatchError('conflict', 'Another run has the dispatch.', { dispatchId })
}

/** Keeps a value on these terms of the call; answers the one that stands there then. */
async function keep (database: Database, { companyId, providerCode, key }: Place, value: Json, terms: Record<string, Json> = {}): Promise<Json> {
  const given = { company_id: companyId, provider_code: providerCode, key, value, first: false, ...terms }
  const kept = await database.call(companyId, sql<{ value: Json }>`select ${callOf('keep')}(${JSON.stringify(given)}::jsonb, ${database.now}) as value`)
  return kept?.value ?? null
}

/** The values of a provider's keys that begin with `prefix`, the newest first. */
export async function listProviderState (database: Database, companyId: number, providerCode: string, prefix: string, limit: number): Promise<Json[]> {
  const rows = await database.company(companyId, (queries) => queries.selectFrom('provider_state').select('value').where('company_id', '=', companyId)
    .where('provider_code', '=', providerCode).where(sql<boolean>`starts_with(key, ${prefix})`).orderBy('updated_at', 'desc').limit(limit).execute())
  return rows.map((row) => row.value)
}
