import type { Json } from '@dispatch/common'
import { sql } from 'kysely'
import { DispatchError } from '../../contract/errors.ts'
import type { State } from '../../host/call/context.ts'
import { callFunction } from '../db/database-functions.ts'
import type { Database } from '../db/database.ts'

/** What one provider remembers for one company, shared by all processes. */
export function createProviderState (database: Database, companyId: number, providerCode: string): State {
  const keep = async (key: string, value: Json, terms: { only_first: boolean }): Promise<Json> => {
    const given = { company_id: companyId, provider_code: providerCode, key, value, ...terms }
    return (await callFunction(database, 'keep_state', given)).answer
  }
  return {
    async get (key) {
      const row = await database.company(companyId,
        (queries) =>
          queries.selectFrom('provider_state').select('value').where('company_id', '=', companyId)
            .where('provider_code', '=', providerCode).where('key', '=', key).executeTakeFirst())
      return row?.value
    },
    async put (key, value) {
      await keep(key, value, { only_first: false })
    },
    putIfAbsent: (key, value) => keep(key, value, { only_first: true })
  }
}

/** Keeps a value for a run, as long as the run has its dispatch. Throws `conflict` when the run has lost it. */
export async function keepForRun (
  database: Database,
  { companyId, dispatchId, runId, providerCode, key, value }: {
    companyId: number
    dispatchId: string
    runId: string
    providerCode: string
    key: string
    value: string
  }
): Promise<void> {
  const { answer: kept } = await callFunction(database, 'keep_state', {
    company_id: companyId,
    provider_code: providerCode,
    key,
    value,
    only_first: false,
    dispatch_id: dispatchId,
    run_id: runId
  })
  if (kept === null) throw new DispatchError('conflict', 'Another run has the dispatch.', { dispatchId })
}

/** The values of a provider's keys with this prefix, the newest first. */
export async function listProviderState (
  database: Database,
  companyId: number,
  providerCode: string,
  prefix: string,
  limit: number
): Promise<Json[]> {
  const rows = await database.company(companyId,
    (queries) =>
      queries.selectFrom('provider_state').select('value').where('company_id', '=', companyId)
        .where('provider_code', '=', providerCode).where(sql<boolean>`starts_with(key, ${prefix})`).orderBy('updated_at', 'desc').limit(
          limit
        ).execute())
  return rows.map((row) => row.value)
}
