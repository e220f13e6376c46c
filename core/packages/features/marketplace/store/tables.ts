import type { Database } from '@dispatch/database'
import type { Attestation, PackageManifest, PublicKey, RegistryFacts } from '@dispatch/marketplace'
import type { ColumnType, Generated } from 'kysely'

/** A column with JSON, which is written as a text. */
type Plain<T> = ColumnType<T, string, string>

/** The SHA-256 of each file of a package, in hexadecimal, by its path. */
export type FileDigests = Readonly<Record<string, string>>

/** The tables of adapters as the types of queries. The migrations 023 and later of the core, and those of this feature, have made them. */
export type AdapterTables = {
  adapter_packages: {
    integrity: string
    code: string
    version: string
    package_name: string
    author: string | null
    manifest: Plain<PackageManifest>
    definition: string
    files: Plain<FileDigests>
    bytes: Buffer
    at: Date
    revoked: string | null
    source: string | null
    replayed: number | null
    registry: ColumnType<RegistryFacts | null, string | null, string | null>
    attested: ColumnType<Attestation | null, string | null, string | null>
    crashes: Generated<number>
    crashed_at: Date | null
    crash: string | null
  }
  catalogs: {
    source: string
    configured: string
    keys: Plain<readonly PublicKey[]>
    serial: ColumnType<string, number, number>
    jws: string
    fetched_at: Date
  }
  adapters: {
    code: string
    integrity: string
    previous: string | null
    enabled: boolean
    companies: number[] | null
    hosts: string[]
    services: string[]
    changed_at: Date
  }
}

/** Queries that know the tables of adapters. */
export function tablesIn (queries: Database['owner']) {
  return queries.$extendTables<AdapterTables>()
}
