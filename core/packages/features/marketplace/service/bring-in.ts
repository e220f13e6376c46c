import { type AuditStamp, platform } from '@dispatch/accounts'
import { refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { ReadPackage } from '@dispatch/marketplace'
import type { Sandbox } from '@dispatch/sandbox'
import { addPackage, readBefore } from '../store/adapter-changes.ts'
import { listAdapters, type NewPackage } from '../store/adapters.ts'
import type { AdapterFiles } from './adapter-files.ts'
import type { Catalogs } from './catalogs.ts'
import { requireClaim } from './claims.ts'
import { desiredVersion } from './desired-version.ts'
import { asNoRoom, inspect, type Smoke, tryPackage } from './try-package.ts'

/** Whose a package is, as an operator says. */
export type Claim = { publisher?: string | undefined }
export type AddedPackage = { code: string, version: string }

/** Where packages come from, and where they are tried. */
export type Trying = { database: Database, catalogs: Catalogs, files: AdapterFiles, sandbox: () => Promise<Sandbox>, smoke: Smoke }

/** What an operator brings, if nobody else has its names. */
export async function bringIn (
  { database, catalogs, ...trying }: Trying,
  { bytes, registry }: ReadPackage,
  { publisher }: Claim,
  stamp: AuditStamp
): Promise<AddedPackage> {
  await requireWalls(trying.sandbox)
  const found = inspect(bytes)
  const { pin, packages } = await readBefore(database, found.manifest.provider.code, undefined, stamp.at)
  requireClaim(found, { pin, packages, catalogs: await catalogs.known() }, publisher)
  const taken = await tryPackage(bytes, { source: '', registry, ...trying })
  await addPackage(database, taken, platform.companyId, stamp)
  return taken
}

/** The package of a catalog, where the wanted version is not here; undefined where no catalog has it either. */
export async function fetchVersion (
  { database, catalogs, ...trying }: Trying,
  code: string,
  version: string | undefined
): Promise<NewPackage | undefined> {
  const [record] = await listAdapters(database, code)
  const desired = desiredVersion(await catalogs.known(), { code, version, here: record?.packages ?? [] })
  if (desired === undefined) return undefined
  const { source, attested, read } = desired
  const { bytes, registry } = await read()
  return await tryPackage(bytes, { source, attested, registry, ...trying })
}

/** Nothing new runs where the walls around it are too few. */
export async function requireWalls (sandbox: () => Promise<Sandbox>): Promise<void> {
  const obstacle = (await sandbox().catch(asNoRoom)).obstacle()
  if (obstacle !== undefined) throw refusal('validation_failed', [{ path: '', code: 'walls_missing', message: obstacle }])
}
