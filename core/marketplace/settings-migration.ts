import type { JsonObject } from '@dispatch/common'
import { inspectPackage } from '@dispatch/marketplace'
import type { ProviderFiles, Sandbox } from '@dispatch/sandbox'
import { join } from 'node:path'
import type { Keyring } from '../access/keyring.ts'
import { configurationFor } from '../configuration/serving.ts'
import { configurationFaults, openConfiguration, vaultOf } from '../configuration/vault.ts'
import type { Log } from '../host/call/log.ts'
import type { InstalledProvider } from '../host/load/load.ts'
import type { OlderSettings } from '../host/settings/migration.ts'
import { destinationNames, secretNames } from '../host/settings/settings-schema.ts'
import { sealSecrets } from '../host/settings/settings.ts'
import { listConfigurationsOf, type OwnedConfiguration, type StoredConfiguration } from '../store/configuration/configurations.ts'
import type { Database } from '../store/db/database.ts'
import type { MigratedSettings } from '../store/vendor/adapter-changes.ts'
import type { TakenPackage } from '../store/vendor/adapters.ts'
import type { AdapterFiles } from './adapter-files.ts'
import { asNoRoom, entryName } from './take-in.ts'

type Options = { database: Database, keyring: Keyring, files: AdapterFiles, sandbox: () => Promise<Sandbox>, log: Log }

/**
 * What a newer version makes of the configurations that it does not accept as they are. Nothing is written. What it cannot migrate stays as
 * it is: the version before goes on with it.
 */
export async function migrateSettings (
  options: Options,
  { from, to }: { from: TakenPackage, to: TakenPackage },
  now: Date
): Promise<MigratedSettings[]> {
  const { database, keyring, files, sandbox, log } = options
  const configurations = await listConfigurationsOf(database, to.code)
  const { open } = await sandbox()
  const [older, planned] = [open(placeOf(from, files), from.definition), open(placeOf(to, files), to.definition)]
  const left = configurations.filter((stored) => configurationFaults(keyring, stored.companyId, planned, stored).length > 0)
  if (left.length === 0 || planned.migrateSettings === undefined) return []
  await using staged = await files.stage(inspectPackage(to.bytes, { integrity: to.integrity }).files).catch(asNoRoom)
  const newer = open(placeOf(to, { folderOf: () => staged.folder }), to.definition)
  const migrated: MigratedSettings[] = []
  for (const stored of left) {
    const found = await migrateOne({ keyring, older, newer, now }, stored).catch((err: unknown) => {
      log.warn({ err, provider: to.code, companyId: stored.companyId }, 'an adapter could not migrate the settings of a company')
    })
    if (found !== undefined) migrated.push(found)
  }
  return migrated
}

/**
 * The configurations that the running version of an adapter accepts, and an older one does not in any form: those that were written for the
 * running one. Without it nothing could be dispatched with them.
 */
export async function writtenFor (
  { database, keyring, files, sandbox }: Omit<Options, 'log'>,
  { running, older }: { running: TakenPackage, older: TakenPackage }
): Promise<OwnedConfiguration[]> {
  const { open } = await sandbox()
  const [newest, before] = [open(placeOf(running, files), running.definition), open(placeOf(older, files), older.definition)]
  const isWrong = (provider: InstalledProvider, stored: OwnedConfiguration): boolean =>
    configurationFaults(keyring, stored.companyId, provider, configurationFor(keyring, stored.companyId, provider, stored)).length > 0
  return (await listConfigurationsOf(database, running.code)).filter((stored) => !isWrong(newest, stored) && isWrong(before, stored))
}

function placeOf ({ integrity, version, publisher }: TakenPackage, { folderOf }: Pick<AdapterFiles, 'folderOf'>): ProviderFiles {
  const folder = folderOf(integrity)
  return { folder, digest: integrity, version, publisher, entry: join(folder, entryName) }
}

async function migrateOne (
  { keyring, older, newer, now }: { keyring: Keyring, older: InstalledProvider, newer: InstalledProvider, now: Date },
  stored: OwnedConfiguration
): Promise<MigratedSettings | undefined> {
  const { companyId, userId, providerCode, updatedAt: seen } = stored
  const served = configurationFor(keyring, companyId, older, stored)
  const made = await newer.migrateSettings?.(olderSettings(older, openConfiguration(keyring, companyId, served), served))
  if (made === undefined) return undefined
  const settings = { plain: made.plain, secrets: sealSecrets(made.secrets, vaultOf(keyring, stored, providerCode), now) }
  const [fault] = configurationFaults(keyring, companyId, newer, { ...stored, settings })
  if (fault !== undefined) throw new TypeError(`What it made does not fit its form: ${fault.path} ${fault.message}`)
  return { companyId, userId, seen, before: served.settings, settings }
}

function olderSettings (
  { version, manifest: { settings: form } }: InstalledProvider,
  settings: JsonObject,
  { settings: { plain, secrets } }: StoredConfiguration
): OlderSettings {
  return {
    version,
    settings,
    secretNames: [...new Set([...secretNames(form), ...Object.keys(secrets)])],
    destinations: destinationNames(form).flatMap((name) => plain[name] ?? [])
  }
}
