import { sql } from 'kysely'
import type { Json } from '../contract/json.ts'
import type { State } from '../host/context.ts'
import type { CompanyQueries, Database } from './database.ts'

/** What one provider remembers for one company, shared by all processes. */
export function createProviderState (database: Database, companyId: number, providerCode: string, now: () => Date): State {
  const get = async (queries: CompanyQueries, key: string): Promise<Json | undefined> => {
    const row = await queries.selectFrom('provider_state').select('value').where('company_id', '=', companyId)
      .where('provider_code', '=', providerCode).where('key', '=', key).executeTakeFirst()
    return row?.value
  }
  const insert = (queries: CompanyQueries, key: string, value: Json) => queries.insertInto('provider_state')
    .values({ company_id: companyId, provider_code: providerCode, key, value: JSON.stringify(value), updated_at: now() })
  return {
    get: (key) => database.company(companyId, (queries) => get(queries, key)),
    async put (key, value) {
      await database.company(companyId, (queries) => insert(queries, key, value).onConflict((conflict) => conflict
        .columns(['company_id', 'provider_code', 'key']).doUpdateSet({ value: JSON.stringify(value), updated_at: now() })).execute())
    },
    putIfAbsent: (key, value) => database.company(companyId, async (queries) => {
      const inserted = await insert(queries, key, value).onConflict((conflict) => conflict.doNothing()).returning('key').executeTakeFirst()
      return inserted === undefined ? await get(queries, key) ?? value : value
    })
  }
}

/** The values of a provider's keys that begin with `prefix`, the newest first. */
export async function listProviderState (database: Database, companyId: number, providerCode: string, prefix: string, limit: number): Promise<Json[]> {
  const rows = await database.company(companyId, (queries) => queries.selectFrom('provider_state').select('value').where('company_id', '=', companyId)
    .where('provider_code', '=', providerCode).where(sql<boolean>`starts_with(key, ${prefix})`).orderBy('updated_at', 'desc').limit(limit).execute())
  return rows.map((row) => row.value)
}
