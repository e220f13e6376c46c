import type { Database, OwnerQueries } from '@dispatch/database'
import type { Publisher } from '@dispatch/host'
import type { Attestation, PackageManifest, RegistryFacts } from '@dispatch/marketplace'
import { type Selectable, sql } from 'kysely'
import type { NamedCompany } from './named-company.ts'
import { type AdapterTables, type FileDigests, tablesIn } from './tables.ts'

/** Inside of a transaction, or outside of any. */
export type Queries = OwnerQueries | Database['owner']

/** What is known of a package without its bytes. `integrity`: its SHA-512, as npm writes it. */
export type PackageFacts = {
  integrity: string
  code: string
  version: string
  publisher: Publisher
  manifest: PackageManifest
  /** What its process said of itself when it was taken in: JSON, its functions marked. */
  definition: string
  files: FileDigests
}
export type StoredPackage = PackageFacts & { bytes: Uint8Array }
/**
 * `source`: the address of the catalog that it was fetched from; empty: an operator has added it by hand. `replayed`: how many of its
 * fixtures were replayed when it was taken in, and went as they say. `registry`: what the registry of npm that it came from says of it.
 * `attested`: what the catalog says of it that it came from.
 */
export type NewPackage = StoredPackage & { source: string, replayed: number } & Reported
type Reported = { registry?: RegistryFacts | undefined, attested?: Attestation | undefined }

/** What an adapter may do, as an operator has agreed. */
export type Consent = { hosts: readonly string[], services: readonly string[] }

/** The columns of an adapter, as `stateOf` reads them. */
export const adapterColumns = ['code', 'integrity', 'previous', 'enabled', 'companies', 'hosts', 'services'] as const

/** What is to run under a code, whichever processes there are. `companies`: to whom it is offered; null: to all. */
export type AdapterState = {
  integrity: string
  previous: string | null
  enabled: boolean
  companies: readonly number[] | null
  consent: Consent
}

/**
 * `revoked`: why it may not run any more. `source` and `replayed`: as those of a {@link NewPackage}; null: it is older than that is known.
 */
export type PackageSummary = Pick<PackageFacts, 'integrity' | 'version' | 'publisher' | 'manifest'> & Reported & {
  size: number
  at: Date
  revoked: string | null
  source: string | null
  replayed: number | null
  crashes: Crashes
}

/** How often a process of a version has ended by itself since it was taken in, in all processes of the service. */
export type Crashes = { count: number, last?: { at: Date, why: string } }

/** The packages of all codes, or of one, the newest first. */
export async function packagesOf (
  queries: Queries,
  code?: string
): Promise<(PackageSummary & { code: string })[]> {
  const rows = await tablesIn(queries).selectFrom('adapter_packages')
    .select(['integrity', 'code', 'version', 'package_name', 'author', 'manifest', 'at', 'revoked', 'source', 'replayed', 'registry',
      'attested'])
    .select(['crashes', 'crashed_at', 'crash', sql<number>`octet_length(bytes)`.as('size')])
    .$if(code !== undefined, (query) => query.where('code', '=', code ?? '')).orderBy('code').orderBy('at', 'desc').execute()
  return rows.map(({ package_name: packageName, author, crashes: count, crashed_at: at, crash: why, registry, attested, ...facts }) => ({
    ...facts,
    ...(registry !== null && { registry }),
    ...(attested !== null && { attested }),
    publisher: { packageName, author },
    crashes: { count, ...(at !== null && why !== null && { last: { at, why } }) }
  }))
}

/** Counts the crash of a process of a package. One that was not taken in has none. */
export async function recordCrash ({ owner, now }: Database, { integrity, why }: { integrity: string, why: string }): Promise<void> {
  await tablesIn(owner).updateTable('adapter_packages').set(({ eb }) => ({ crashes: eb('crashes', '+', 1), crashed_at: now, crash: why }))
    .where('integrity', '=', integrity).execute()
}

/** What is to run, and what was taken in, of every code. */
export type AdapterRecord = { code: string, adapter: AdapterState | undefined, packages: readonly PackageSummary[], users: number }

/** All adapters by code, or one. `users`: how many companies have a configuration of it. */
export async function listAdapters ({ owner }: Database, code?: string): Promise<AdapterRecord[]> {
  const [packages, rows] = [
    await packagesOf(owner, code),
    await tablesIn(owner).selectFrom('adapters').select(adapterColumns)
      .select(sql<number>`(select count(distinct company_id)::int from configurations where provider_code = adapters.code)`.as('users'))
      .$if(code !== undefined, (query) => query.where('code', '=', code ?? '')).execute()
  ]
  return [...Map.groupBy(packages, (one) => one.code)].map(([own, of]) => {
    const row = rows.find((one) => one.code === own)
    return { code: own, adapter: row && stateOf(row), packages: of, users: row?.users ?? 0 }
  })
}

/** Companies that are named at most. */
const maxNamed = 100

/** The companies that have a configuration of an adapter, by id. */
export async function usersOf ({ owner }: Database, code: string): Promise<NamedCompany[]> {
  const { rows } = await sql<NamedCompany>`select distinct company_id as id, companies.name from configurations
    join companies using (company_id) where provider_code = ${code} order by id limit ${maxNamed}`.execute(owner)
  return rows
}

/** Those of these codes that are installed. */
export async function listPresent (queries: Queries, codes: readonly string[]): Promise<string[]> {
  const rows = await tablesIn(queries).selectFrom('adapters').select('code').where('code', 'in', [...codes]).execute()
  return rows.map(({ code }) => code)
}

/** A package as a process runs it. `sdk`: the versions of the core that it works with. */
export type RunnablePackage = Omit<PackageFacts, 'manifest'> & { sdk: string, revoked: string | null }

/** An installed adapter as a process follows it. `pin`: to whom its code belongs. */
export type InstalledAdapter = Pick<AdapterState, 'enabled' | 'companies'> & {
  code: string
  taken: RunnablePackage
  previous: RunnablePackage | undefined
  pin: Publisher | undefined
}

/** All installed adapters, by code. */
export async function listInstalledAdapters ({ owner }: Database): Promise<InstalledAdapter[]> {
  const rows = await tablesIn(owner).selectFrom('adapters').leftJoin('provider_pins as pin', 'pin.code', 'adapters.code').orderBy(
    'adapters.code'
  )
    .select(['adapters.code', 'adapters.integrity', 'adapters.previous', 'adapters.enabled', 'adapters.companies'])
    .select(['pin.package_name as pinned', 'pin.author as pinnedAuthor']).execute()
  const packages = await runnablePackages(owner, rows.flatMap(({ integrity, previous }) => [integrity, previous ?? integrity]))
  return rows.flatMap(({ code, integrity, previous, enabled, companies, pinned, pinnedAuthor }) => {
    const taken = packages.get(integrity)
    // A version that was removed between the two questions is found by the next look.
    if (taken === undefined) return []
    const pin = pinned === null ? undefined : { packageName: pinned, author: pinnedAuthor }
    return [{ code, enabled, companies, taken, previous: packages.get(previous ?? ''), pin }]
  })
}

async function runnablePackages (queries: Queries, integrities: readonly string[]) {
  if (integrities.length === 0) return new Map<string, RunnablePackage>()
  const rows = await tablesIn(queries).selectFrom('adapter_packages').where('integrity', 'in', [...integrities])
    .select(['integrity', 'code', 'version', 'package_name', 'author', 'definition', 'files', 'revoked'])
    .select(sql<string>`manifest->>'sdk'`.as('sdk')).execute()
  return new Map(rows.map(({ package_name: packageName, author, ...facts }): [string, RunnablePackage] => [
    facts.integrity,
    { ...facts, publisher: { packageName, author } }
  ]))
}

/** All that is kept of a package; undefined where it is not here any more. */
export async function readStoredPackage ({ owner }: Database, integrity: string): Promise<StoredPackage | undefined> {
  const row = await tablesIn(owner).selectFrom('adapter_packages').where('integrity', '=', integrity)
    .select(['integrity', 'code', 'version', 'package_name', 'author', 'manifest', 'definition', 'files', 'bytes']).executeTakeFirst()
  if (row === undefined) return undefined
  const { package_name: packageName, author, ...facts } = row
  return { ...facts, publisher: { packageName, author } }
}

/** The bytes of a package; undefined where it is not here any more. */
export async function readPackageBytes ({ owner }: Database, integrity: string): Promise<Uint8Array | undefined> {
  const row = await tablesIn(owner).selectFrom('adapter_packages').select('bytes').where('integrity', '=', integrity).executeTakeFirst()
  return row?.bytes
}

/** The packages that an adapter runs, or can be rolled back to. */
export async function listUsedPackages ({ owner }: Database): Promise<string[]> {
  const rows = await tablesIn(owner).selectFrom('adapters').select(['integrity', 'previous']).execute()
  return rows.flatMap(({ integrity, previous }) => previous === null ? [integrity] : [integrity, previous])
}

/** The desired version of an adapter, read from its row. */
export function stateOf (row: Omit<Selectable<AdapterTables['adapters']>, 'changed_at'>): AdapterState {
  const { integrity, previous, enabled, companies, hosts, services } = row
  return { integrity, previous, enabled, companies, consent: { hosts, services } }
}
