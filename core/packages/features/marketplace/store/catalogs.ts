import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { Database, OwnerQueries } from '@dispatch/database'
import type { PublicKey } from '@dispatch/marketplace'
import { sql } from 'kysely'
import type { NamedCompany } from './named-company.ts'
import { rolesIn } from './roles.ts'
import { tablesIn } from './tables.ts'

/** A catalog as it was last read. `configured`: the keys that were configured; `keys`: those that its text was verified with. */
export type StoredCatalog = { source: string, configured: string, keys: readonly PublicKey[], serial: number, fetchedAt: Date }

/** All catalogs, without their texts. */
export async function listCatalogs ({ owner }: Database): Promise<StoredCatalog[]> {
  const rows = await tablesIn(owner).selectFrom('catalogs').select(['source', 'configured', 'keys', 'serial', 'fetched_at']).execute()
  return rows.map(({ serial, fetched_at: fetchedAt, ...row }) => ({ ...row, serial: Number(serial), fetchedAt }))
}

/** The signed text of a catalog, and its serial; undefined where it was never read. */
export async function readCatalog ({ owner }: Database, source: string): Promise<{ serial: number, jws: string } | undefined> {
  const row = await tablesIn(owner).selectFrom('catalogs').select(['serial', 'jws']).where('source', '=', source).executeTakeFirst()
  return row && { serial: Number(row.serial), jws: row.jws }
}

/** Keeps what was read of a catalog, unless somebody has read a later one meanwhile, or another one with its serial. */
export async function keepCatalog ({ owner }: Database, catalog: StoredCatalog & { jws: string }): Promise<void> {
  const { source, configured, keys, serial, jws, fetchedAt } = catalog
  const values = { configured, keys: JSON.stringify(keys), serial, jws, fetched_at: fetchedAt }
  await tablesIn(owner).insertInto('catalogs').values({ source, ...values })
    .onConflict((conflict) =>
      conflict.column('source').doUpdateSet(values).where(sql<boolean>`catalogs.serial < excluded.serial
        or (catalogs.serial = excluded.serial and split_part(catalogs.jws, '.', 2) = split_part(excluded.jws, '.', 2))`)
    ).execute()
}

/** Why a version may not run any more; null: it may. `by`: the address of the catalog that says so. */
export type Revocation = { integrity: string, code: string, version: string, reason: string | null, by?: string }

/**
 * What has changed by a revocation. `companies`: those that have settings for an adapter which ran this version, a hundred at most.
 * `goesOn`: the version that goes on in its place.
 */
export type Revoked = Revocation & { companies: NamedCompany[], goesOn?: string }

/** Companies of an adapter that are named at most. */
const maxNamed = 100

/** Writes what is revoked and what is not any more. Where anything changed, the audit log has it, and every process is asked to follow. */
export async function writeRevocations (
  { owner }: Database,
  revocations: readonly Revocation[],
  companyId: number,
  stamp: AuditStamp
): Promise<Revoked[]> {
  return await owner.transaction().execute(async (queries) => {
    const all: Revoked[] = []
    for (const revocation of revocations) {
      const { integrity, code, version, reason } = revocation
      const changed = await tablesIn(queries).updateTable('adapter_packages').set({ revoked: reason }).where('integrity', '=', integrity)
        .where('revoked', 'is distinct from', reason).returning('code').executeTakeFirst()
      if (changed === undefined) continue
      const companies = await companiesOf(queries, integrity)
      all.push({ ...revocation, companies })
      const action = reason === null ? 'adapter.revocation_lifted' : 'adapter.revoked'
      await noteAudit(queries, {
        companyId,
        action,
        object: { kind: 'adapter', id: code },
        facts: { version, reason, companies: companies.map(({ id }) => id) },
        ...stamp
      })
    }
    if (all.length > 0) await sql`update provider_reloads set number = number + 1`.execute(queries)
    return await Promise.all(all.map(async (revoked) => ({ ...revoked, ...await inPlaceOf(queries, revoked) })))
  })
}

/** The version that goes on in place of one that is revoked and was to run. */
async function inPlaceOf (queries: OwnerQueries, { integrity, code, reason }: Revocation): Promise<Pick<Revoked, 'goesOn'>> {
  if (reason === null) return {}
  const state = await tablesIn(queries).selectFrom('adapters').select(['integrity', 'previous', 'enabled']).where('code', '=', code)
    .where('integrity', '=', integrity).executeTakeFirst()
  const packages = await tablesIn(queries).selectFrom('adapter_packages').select(['integrity', 'version', 'revoked'])
    .where('code', '=', code).execute()
  const roles = rolesIn(state, packages)
  return roles === undefined ? {} : { goesOn: roles.running.version }
}

/** The companies that dispatch by a version: it runs, or goes on in place of a revoked one, and they have settings for it. */
async function companiesOf (queries: OwnerQueries, integrity: string): Promise<NamedCompany[]> {
  const { rows } = await sql<NamedCompany>`select distinct company_id as id, companies.name from configurations
    join companies using (company_id) where provider_code in (select code from adapters where integrity = ${integrity} or (previous = ${integrity} and
      integrity in (select integrity from adapter_packages where revoked is not null))) order by id limit ${maxNamed}`.execute(queries)
  return rows
}
