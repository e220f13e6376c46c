import type { PublicKey } from '@dispatch/marketplace'
import { sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { type AuditStamp, noteAudit } from '../tenants/audit.ts'

/** A catalog as it was last read. `configured`: the keys that were configured; `keys`: those that its text was verified with. */
export type StoredCatalog = { source: string, configured: string, keys: readonly PublicKey[], serial: number, fetchedAt: Date }

/** All catalogs, without their texts. */
export async function listCatalogs ({ owner }: Database): Promise<StoredCatalog[]> {
  const rows = await owner.selectFrom('catalogs').select(['source', 'configured', 'keys', 'serial', 'fetched_at']).execute()
  return rows.map(({ serial, fetched_at: fetchedAt, ...row }) => ({ ...row, serial: Number(serial), fetchedAt }))
}

/** The signed text of a catalog, and its serial; undefined where it was never read. */
export async function readCatalog ({ owner }: Database, source: string): Promise<{ serial: number, jws: string } | undefined> {
  const row = await owner.selectFrom('catalogs').select(['serial', 'jws']).where('source', '=', source).executeTakeFirst()
  return row && { serial: Number(row.serial), jws: row.jws }
}

/** Keeps what was read of a catalog, unless somebody has read a later one meanwhile, or another one with its serial. */
export async function keepCatalog ({ owner }: Database, catalog: StoredCatalog & { jws: string }): Promise<void> {
  const { source, configured, keys, serial, jws, fetchedAt } = catalog
  const values = { configured, keys: JSON.stringify(keys), serial, jws, fetched_at: fetchedAt }
  await owner.insertInto('catalogs').values({ source, ...values })
    .onConflict((conflict) =>
      conflict.column('source').doUpdateSet(values).where(sql<boolean>`catalogs.serial < excluded.serial
        or (catalogs.serial = excluded.serial and split_part(catalogs.jws, '.', 2) = split_part(excluded.jws, '.', 2))`)
    ).execute()
}

/** Why a version may not run any more; null: it may. */
export type Revocation = { integrity: string, code: string, version: string, reason: string | null }

/** Writes what is revoked and what is not any more. Where anything changed, the audit log has it, and every process is asked to follow. */
export async function writeRevocations (
  { owner }: Database,
  revocations: readonly Revocation[],
  companyId: number,
  stamp: AuditStamp
): Promise<boolean> {
  return await owner.transaction().execute(async (queries) => {
    let isChanged = false
    for (const { integrity, code, version, reason } of revocations) {
      const changed = await queries.updateTable('adapter_packages').set({ revoked: reason }).where('integrity', '=', integrity)
        .where('revoked', 'is distinct from', reason).returning('code').executeTakeFirst()
      if (changed === undefined) continue
      isChanged = true
      const action = reason === null ? 'adapter.revocation_lifted' : 'adapter.revoked'
      await noteAudit(queries, { companyId, action, object: { kind: 'adapter', id: code }, facts: { version, reason }, ...stamp })
    }
    if (isChanged) await sql`update provider_reloads set number = number + 1`.execute(queries)
    return isChanged
  })
}
