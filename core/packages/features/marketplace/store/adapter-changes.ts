import { type AuditStamp, noteAudit } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { lockAdapter, type MigratedSettings, replaceSettings } from '@dispatch/core/source'
import type { Database, OwnerQueries } from '@dispatch/database'
import type { Publisher } from '@dispatch/host'
import { sql } from 'kysely'
import { adapterColumns, type AdapterState, type NewPackage, packagesOf, type PackageSummary, type Queries, stateOf } from './adapters.ts'
import { tablesIn } from './tables.ts'

/** What belongs to a change of an adapter: a package that is taken in, and settings that are replaced, in the same transaction. */
export type Belongings = { adding?: NewPackage | undefined, settings?: readonly MigratedSettings[] }

/** A change of an adapter, for the audit log. */
export type AdapterEdit = { action: string, facts: JsonObject, after: AdapterState | null }

/** What a change of an adapter begins from. `packages`: those of its code, without what only a host needs. */
export type Before = {
  adapter: AdapterState | undefined
  packages: readonly PackageSummary[]
  pin: Publisher | undefined
  uses: () => Promise<AdapterUse[]>
}

/** What needs an adapter, and how often. `company`: its name. `companyId` with `kind` `configuration` or `choice` is that of the owner. */
export type AdapterUse = { companyId: number, company: string, kind: 'configuration' | 'choice' | 'dispatch' | 'delivery', count: number }

/** Takes a package in, or does nothing where it is here. Throws `conflict` where the code has this version with other content. */
export async function addPackage ({ owner }: Database, added: NewPackage, companyId: number, stamp: AuditStamp): Promise<void> {
  await owner.transaction().execute((queries) => insertPackage(queries, added, companyId, stamp))
}

async function insertPackage (queries: OwnerQueries, added: NewPackage, companyId: number, stamp: AuditStamp): Promise<void> {
  const { publisher: { packageName, author }, manifest, files, bytes, registry, attested, ...facts } = added
  const row = {
    ...facts,
    package_name: packageName,
    author,
    manifest: JSON.stringify(manifest),
    files: JSON.stringify(files),
    registry: registry === undefined ? null : JSON.stringify(registry),
    attested: attested === undefined ? null : JSON.stringify(attested),
    bytes: Buffer.from(bytes),
    at: stamp.at
  }
  const isNew = await tablesIn(queries).insertInto('adapter_packages').values(row).onConflict((conflict) => conflict.doNothing())
    .returning('integrity').executeTakeFirst()
  const { code, version, integrity } = added
  if (isNew !== undefined) {
    await note(queries, companyId, code, { action: 'adapter.package_added', facts: { version, integrity } }, stamp)
    return
  }
  const same = await tablesIn(queries).selectFrom('adapter_packages').select('code').where('integrity', '=', integrity).executeTakeFirst()
  if (same !== undefined) return
  const message = `Version ${version} of "${code}" is here with other content: other content is another version.`
  throw new DispatchError('conflict', message, { details: [{ path: '', code: 'version_taken', message }] })
}

/** What a change of an adapter would begin from, were it made now. `adding` is not taken in yet. */
export async function readBefore ({ owner }: Database, code: string, adding: NewPackage | undefined, now: Date): Promise<Before> {
  const before = await beforeOf(owner, code)
  if (adding === undefined || before.packages.some(({ integrity }) => integrity === adding.integrity)) return before
  const { bytes: { length: size } } = adding
  return { ...before, packages: [{ ...adding, size, at: now, revoked: null, crashes: { count: 0 } }, ...before.packages] }
}

async function beforeOf (queries: Queries, code: string): Promise<Before> {
  const row = await tablesIn(queries).selectFrom('adapters').select(adapterColumns).where('code', '=', code).executeTakeFirst()
  const packages = await packagesOf(queries, code)
  const pin = await queries.selectFrom('provider_pins').select(['package_name', 'author']).where('code', '=', code).executeTakeFirst()
  return {
    adapter: row && stateOf(row),
    packages,
    pin: pin && { packageName: pin.package_name, author: pin.author },
    uses: () => usesOf(queries, code)
  }
}

/**
 * Changes what runs under a code to what `edit` makes of it. Nobody changes it in between, the audit log says what was done, and every
 * process is asked to follow. Packages that can no longer be rolled back to are forgotten, with the adapter all of its code.
 */
export async function editAdapter (
  { owner }: Database,
  { code, companyId, adding, settings = [] }: { code: string, companyId: number } & Belongings,
  edit: (before: Before) => AdapterEdit | Promise<AdapterEdit>,
  stamp: AuditStamp
): Promise<void> {
  await owner.transaction().execute(async (queries) => {
    await lockAdapter(queries, code)
    if (adding !== undefined) await insertPackage(queries, adding, companyId, stamp)
    const before = await beforeOf(queries, code)
    const { after, ...done } = await edit(before)
    if (after === null) await forget(queries, code)
    else await write(queries, code, after, before.packages, stamp.at)
    for (const migrated of settings) await replaceSettings(queries, code, migrated, stamp)
    await sql`update provider_reloads set number = number + 1`.execute(queries)
    await note(queries, companyId, code, done, stamp)
  })
}

async function forget (queries: OwnerQueries, code: string): Promise<void> {
  await tablesIn(queries).deleteFrom('adapters').where('code', '=', code).execute()
  await tablesIn(queries).deleteFrom('adapter_packages').where('code', '=', code).execute()
}

/** Packages of a code that are kept for the way back: those that came last before the one that runs. */
const keptPackages = 5

async function write (
  queries: OwnerQueries,
  code: string,
  after: AdapterState,
  packages: readonly PackageSummary[],
  at: Date
): Promise<void> {
  const { integrity, previous, enabled, companies, consent: { hosts, services } } = after
  const values = {
    integrity,
    previous,
    enabled,
    companies: companies === null ? null : [...companies],
    hosts: [...hosts],
    services: [...services],
    changed_at: at
  }
  const own = packages.find((one) => one.integrity === integrity)
  if (own === undefined) throw new TypeError(`There is no package ${integrity} of "${code}".`)
  const { packageName, author } = own.publisher
  // To whom the code belongs is settled before anything runs under it.
  await queries.insertInto('provider_pins').values({ code, package_name: packageName, author, folder: '', at })
    .onConflict((conflict) => conflict.doNothing()).execute()
  await tablesIn(queries).insertInto('adapters').values({ code, ...values })
    .onConflict((conflict) => conflict.column('code').doUpdateSet(values)).execute()
  const older = packages.filter((one) => one.at < own.at).sort((one, other) => other.at.getTime() - one.at.getTime())
  const kept = [integrity, previous ?? integrity, ...older.slice(0, keptPackages).map((one) => one.integrity)]
  await tablesIn(queries).deleteFrom('adapter_packages').where('code', '=', code).where('integrity', 'not in', kept)
    .where('at', '<', own.at).execute()
}

async function note (
  queries: OwnerQueries,
  companyId: number,
  code: string,
  { action, facts }: Pick<AdapterEdit, 'action' | 'facts'>,
  stamp: AuditStamp
): Promise<void> {
  await noteAudit(queries, { companyId, action, object: { kind: 'adapter', id: code }, facts, ...stamp })
}

/** Which companies need a provider: for a configuration, a choice, a step that has not ended, a delivery that is under way. */
async function usesOf (queries: Queries, code: string): Promise<AdapterUse[]> {
  const { rows } = await sql<AdapterUse>`
    select company_id as "companyId", companies.name as company, kind, count(*)::int as count from (
      select company_id, 'configuration' as kind from configurations where provider_code = ${code}
      union all select company_id, 'choice' from choices
        where provider_code = ${code} or providers @> ${JSON.stringify([{ providerName: code }])}::jsonb
      union all select company_id, 'dispatch' from steps join dispatches using (company_id, dispatch_id)
        where (provider_code = ${code} or providers @> ${
    JSON.stringify([{ code }])
  }::jsonb) and dispatches.status in ('queued', 'running', 'uncertain') and steps.status <> 'accepted'
      union all select company_id, 'dispatch' from steps
        where (provider_code = ${code} or providers @> ${JSON.stringify([{ code }])}::jsonb) and status = 'waiting'
      union all select company_id, 'delivery' from steps where provider_code = ${code} and status = 'accepted' and not delivery_settled
        and delivery_status is not null
    ) as uses join companies using (company_id) group by company_id, companies.name, kind order by company_id, kind`.execute(queries)
  return rows
}
