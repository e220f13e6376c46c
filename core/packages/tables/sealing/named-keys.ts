import type { Database } from '@dispatch/database'

/**
 * The id of the key that seals what is a company's; undefined where it has none yet. On a connection of its own: who asks may have one of
 * the company's.
 */
export async function findDataKey ({ vital }: Pick<Database, 'vital'>, companyId: number): Promise<string | undefined> {
  const row = await vital.selectFrom('data_keys').select('key_id').where('company_id', '=', companyId).executeTakeFirst()
  return row?.key_id
}

/** Gives a company its key, unless another process has just given it one; answers the id of the one that it has. */
export async function nameDataKey ({ vital, now }: Pick<Database, 'vital' | 'now'>, companyId: number, keyId: string): Promise<string> {
  await vital.insertInto('data_keys').values({ company_id: companyId, key_id: keyId, created_at: now })
    .onConflict((conflict) => conflict.doNothing()).execute()
  const { key_id: named } = await vital.selectFrom('data_keys').select('key_id').where('company_id', '=', companyId)
    .executeTakeFirstOrThrow()
  return named
}

/** Whether the database has refused to name a key because its company is gone. */
export function isOfNobody (error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23503'
}

export type NamedKey = { companyId: number, keyId: string }

/** The keys of all companies, the newest first, or the newest of them. */
export async function listDataKeys ({ owner }: Pick<Database, 'owner'>, max?: number): Promise<NamedKey[]> {
  return newestKeys(owner, max).execute()
}

/** The same of the companies that are not disabled: one that is being deleted is, and its key is gone while the database names it. */
export async function listKeysInUse ({ owner }: Pick<Database, 'owner'>, max?: number): Promise<NamedKey[]> {
  return newestKeys(owner, max).where('company_id', 'in',
    (from) => from.selectFrom('companies').select('company_id').where('disabled_at', 'is', null)).execute()
}

function newestKeys (owner: Database['owner'], max?: number) {
  const all = owner.selectFrom('data_keys').select(['company_id as companyId', 'key_id as keyId']).orderBy('created_at', 'desc')
  return max === undefined ? all : all.limit(max)
}

/** Forgets a key that is lost: the company gets another one with its next document. */
export async function forgetDataKey ({ owner }: Pick<Database, 'owner'>, { companyId, keyId }: NamedKey): Promise<void> {
  await owner.deleteFrom('data_keys').where('company_id', '=', companyId).where('key_id', '=', keyId).execute()
}

export async function hasDataKeys (database: Pick<Database, 'owner'>): Promise<boolean> {
  return (await listDataKeys(database, 1)).length > 0
}

/** The ids of all companies. */
export async function listCompanyIds ({ owner }: Pick<Database, 'owner'>): Promise<number[]> {
  const rows = await owner.selectFrom('companies').select('company_id').execute()
  return rows.map((row) => row.company_id)
}
