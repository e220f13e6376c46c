import type { Json } from '@dispatch/common'
import { sql } from 'kysely'
import { DispatchError } from '../../contract/errors.ts'
import type { State } from '../../host/call/context.ts'
import type { CompanyQueries, Database } from '../db/database.ts'

/** What one provider remembers for one company, shared by all processes. */
export function createProviderState (database: Database, companyId: number, providerCode: string, now: () => Date): State {
  const get = async (queries: CompanyQueries, key: string): Promise<Json | undefined> => {
    const row = await queries.selectFrom('provider_state').select('value').where('company_id', '=', companyId)
      .where('provider_code', '=', providerCode).where('key', '=', key).executeTakeFirst()
    return row?.value
  }
  const insert = (queries: CompanyQueries, key: string, value: Json) =>
    queries.insertInto('provider_state')
      .values({ company_id: companyId, provider_code: providerCode, key, value: JSON.stringify(value), updated_at: now() })
  return {
    get: (key) => database.company(companyId, (queries) => get(queries, key)),
    async put (key, value) {
      await database.company(companyId, (queries) =>
        insert(queries, key, value).onConflict((conflict) =>
          conflict
            .columns(['company_id', 'provider_code', 'key']).doUpdateSet({ value: JSON.stringify(value), updated_at: now() })
        ).execute())
    },
    putIfAbsent: (key, value) =>
      database.company(companyId, async (queries) => {
        const inserted = await insert(queries, key, value).onConflict((conflict) => conflict.doNothing()).returning('key')
          .executeTakeFirst()
        return inserted === undefined ? await get(queries, key) ?? value : value
      })
  }
}

/** Keeps a value for a run, as long as it has its dispatch. Throws `conflict` when it has lost it. */
export async function keepForRun (
  database: Database,
  { companyId, dispatchId, runId, providerCode, key, value }: {
    companyId: number
    dispatchId: string
    runId: string
    providerCode: string
    key: string
    value: Json
  },
  now: Date
): Promise<void> {
  const { rows } = await database.company(companyId, (queries) =>
    sql`
    with run as (
      select company_id from dispatches where dispatch_id = ${dispatchId} and company_id = ${companyId} and run_id = ${runId} for share
    )
    insert into provider_state (company_id, provider_code, key, value, updated_at)
      select company_id, ${providerCode}, ${key}, ${JSON.stringify(value)}, ${now} from run
    on conflict (company_id, provider_code, key) do update set value = excluded.value, updated_at = excluded.updated_at returning 1`
      .execute(queries))
  if (rows.length === 0) throw new DispatchError('conflict', 'Another run has the dispatch.', { dispatchId })
}

/** The values of a provider's keys that begin with `prefix`, the newest first. */
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
