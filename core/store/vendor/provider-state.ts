import type { Json } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { type Database, hasCode } from '@dispatch/database'
import { type InstalledProvider, type Keeping, type State, StateFull } from '@dispatch/host'
import { sql } from 'kysely'
import { callFunction } from '../calls/database-functions.ts'
import type { Owner } from '../configuration/configurations.ts'

/** Who remembers: a provider for a company. `userId`: whose configuration writes; null: the company's. */
export type Remembering = { companyId: number, providerCode: string, userId?: number | null }

/**
 * How much each configuration of a provider may keep: keys, and bytes of keys and values in JSON together. What was not written for so many
 * days makes room for what is new: longer than a status is polled.
 */
export type StateQuota = { keys: number, bytes: number, days: number }

/** The quota of an adapter: so few keys that all of them are looked at whenever one more is written. */
export const stateQuota: StateQuota = { keys: 1_000, bytes: 4 * 1024 * 1024, days: 400 }

/**
 * What one provider remembers for one company, shared by all processes and by all configurations of the company. Without a quota it may
 * keep what it likes. Throws {@link StateFull}.
 */
export function createProviderState (
  database: Database,
  { companyId, providerCode, userId = null }: Remembering,
  quota?: StateQuota
): State {
  const terms = quota === undefined ? {} : { most_keys: quota.keys, most_bytes: quota.bytes, stale: `${quota.days} days` }
  const keep = async (key: string, value: Json, only_first: boolean, { ttl }: Keeping = {}): Promise<Json> => {
    const lasting = ttl === undefined ? {} : { ttl }
    const given = { company_id: companyId, user_id: userId, provider_code: providerCode, key, value, only_first, ...terms, ...lasting }
    try {
      return (await callFunction(database, 'keep_state', given)).answer
    } catch (error) {
      throw quota !== undefined && hasCode(error, 'DC413') ? new StateFull(providerCode, quota, error) : error
    }
  }
  return {
    async get (key) {
      const row = await database.company(companyId,
        (queries) =>
          queries.selectFrom('provider_state').select('value').where('company_id', '=', companyId)
            .where('provider_code', '=', providerCode).where('key', '=', key)
            .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', database.now)])).executeTakeFirst())
      return row?.value
    },
    async put (key, value, how) {
      await keep(key, value, false, how)
    },
    putIfAbsent: (key, value, how) => keep(key, value, true, how),
    async delete (key) {
      await database.company(companyId,
        (queries) =>
          queries.deleteFrom('provider_state').where('company_id', '=', companyId).where('provider_code', '=', providerCode)
            .where('key', '=', key).execute())
    }
  }
}

/** What a provider remembers for the owner of a configuration: that of an adapter has a quota. */
export function adapterState (
  database: Database,
  { companyId, userId }: Owner,
  { code: providerCode, isAdapter }: Pick<InstalledProvider, 'code' | 'isAdapter'>
): State {
  return createProviderState(database, { companyId, providerCode, userId }, isAdapter === true ? stateQuota : undefined)
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
