import type { Keyring, Log } from '@dispatch/common'
import { configurationsRefusedBy, configurationsServed, migrateConfiguration, type MigratedSettings,
  type ServedConfiguration } from '@dispatch/core/source'
import type { Database } from '@dispatch/database'
import { inspectPackage } from '@dispatch/marketplace'
import type { ProviderFiles, Sandbox } from '@dispatch/sandbox'
import { join } from 'node:path'
import type { StoredPackage } from '../store/adapters.ts'
import type { Roles } from '../store/roles.ts'
import type { AdapterFiles } from './adapter-files.ts'
import { crashCounter } from './crashes.ts'
import { asNoRoom, entryName } from './try-package.ts'

/** What settings are migrated with: both versions are asked in the sandbox. */
export type MigrationPlace = { database: Database, keyring: Keyring, files: AdapterFiles, sandbox: () => Promise<Sandbox>, log: Log }

/**
 * What a newer version makes of the configurations that it does not accept as they are. Nothing is written. What it cannot migrate stays as
 * it is: the version before goes on with it.
 */
export async function migrateSettings (
  options: MigrationPlace,
  { from, to }: { from: StoredPackage, to: StoredPackage },
  now: Date
): Promise<MigratedSettings[]> {
  const { keyring, files, sandbox, log } = options
  const { open } = await sandbox()
  const [older, planned] = [open(placeOf(from, options), from.definition), open(placeOf(to, options), to.definition)]
  const left = await configurationsRefusedBy(options, planned)
  if (left.length === 0 || planned.migrateSettings === undefined) return []
  await using staged = await files.stage(inspectPackage(to.bytes, { integrity: to.integrity }).files).catch(asNoRoom)
  const newer = open(placeOf(to, { ...options, files: { folderOf: () => staged.folder } }), to.definition)
  const migrated: MigratedSettings[] = []
  for (const stored of left) {
    const found = await migrateConfiguration({ keyring, now }, { older, newer }, stored).catch((err: unknown) => {
      log.warn({ err, provider: to.code, companyId: stored.companyId }, 'an adapter could not migrate the settings of a company')
    })
    if (found !== undefined) migrated.push(found)
  }
  return migrated
}

/** How the configurations of an adapter are served by these versions of it; by none where there are none. */
export async function servedBy (
  options: MigrationPlace,
  code: string,
  versions: Roles<StoredPackage> | undefined
): Promise<ServedConfiguration[]> {
  const { open } = await options.sandbox()
  const [running, before] = [versions?.running, versions?.beside].map((one) => one && open(placeOf(one, options), one.definition))
  return await configurationsServed(options, { code, provider: running && { ...running, ...(before !== undefined && { before }) } })
}

function placeOf (
  { integrity, version, publisher }: StoredPackage,
  { files: { folderOf }, ...recording }: Pick<MigrationPlace, 'database' | 'log'> & { files: Pick<AdapterFiles, 'folderOf'> }
): ProviderFiles {
  const folder = folderOf(integrity)
  const onCrash = crashCounter(recording, integrity)
  return { folder, digest: integrity, version, publisher, entry: join(folder, entryName), onCrash }
}
