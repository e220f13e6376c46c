import type { Keyring } from '../access/keyring.ts'
import type { InstalledProvider } from '../host/load/load.ts'
import type { OlderSettings } from '../host/settings/migration.ts'
import { destinationNames, secretNames } from '../host/settings/settings-schema.ts'
import { sealSecrets } from '../host/settings/settings.ts'
import { listConfigurationsOf, type OwnedConfiguration } from '../store/configuration/configurations.ts'
import type { MigratedSettings } from '../store/configuration/migrated-settings.ts'
import type { Database } from '../store/db/database.ts'
import { configurationFor, servingIn } from './serving.ts'
import { configurationFaults, openConfiguration, vaultOf } from './vault.ts'

type Options = { database: Database, keyring: Keyring }

/** All configurations of a provider that a version of it does not accept as they are. */
export async function configurationsRefusedBy ({ database, keyring }: Options, version: InstalledProvider): Promise<OwnedConfiguration[]> {
  const all = await listConfigurationsOf(database, version.code)
  return all.filter((stored) => configurationFaults(keyring, stored.companyId, version, stored).length > 0)
}

/**
 * The configurations that the running version of a provider accepts, and an older one does not in any form: those that were written for the
 * running one. Without it nothing could be dispatched with them.
 */
export async function configurationsWrittenFor (
  { database, keyring }: Options,
  { running, older }: { running: InstalledProvider, older: InstalledProvider }
): Promise<OwnedConfiguration[]> {
  const isWrong = (version: InstalledProvider, stored: OwnedConfiguration): boolean =>
    configurationFaults(keyring, stored.companyId, version, configurationFor(keyring, stored.companyId, version, stored)).length > 0
  return (await listConfigurationsOf(database, running.code)).filter((stored) => !isWrong(running, stored) && isWrong(older, stored))
}

/** The configurations of a provider that neither the version that runs accepts, nor the one that serves beside it. */
export async function configurationsUnserved ({ database, keyring }: Options, provider: InstalledProvider): Promise<OwnedConfiguration[]> {
  return (await listConfigurationsOf(database, provider.code)).filter((stored) => {
    const { provider: version, configuration } = servingIn(keyring, stored.companyId, provider, stored)
    return configurationFaults(keyring, stored.companyId, version, configuration).length > 0
  })
}

/**
 * What a newer version of a provider makes of a configuration that the older one serves. Nothing is written. Undefined where it makes
 * nothing of it; rejects where what it makes does not fit.
 */
export async function migrateConfiguration (
  { keyring, now }: { keyring: Keyring, now: Date },
  { older, newer }: { older: InstalledProvider, newer: InstalledProvider },
  stored: OwnedConfiguration
): Promise<MigratedSettings | undefined> {
  const { companyId, userId, providerCode, updatedAt: seen } = stored
  const served = configurationFor(keyring, companyId, older, stored)
  const made = await newer.migrateSettings?.(olderSettings(keyring, older, { ...served, companyId }))
  if (made === undefined) return undefined
  const settings = { plain: made.plain, secrets: sealSecrets(made.secrets, vaultOf(keyring, stored, providerCode), now) }
  const [fault] = configurationFaults(keyring, companyId, newer, { ...stored, settings })
  if (fault !== undefined) throw new TypeError(`What it made does not fit its form: ${fault.path} ${fault.message}`)
  return { companyId, userId, seen, before: served.settings, settings }
}

function olderSettings (
  keyring: Keyring,
  { version, manifest: { settings: form } }: InstalledProvider,
  configuration: OwnedConfiguration
): OlderSettings {
  const { companyId, settings: { plain, secrets } } = configuration
  return {
    version,
    settings: openConfiguration(keyring, companyId, configuration),
    secretNames: [...new Set([...secretNames(form), ...Object.keys(secrets)])],
    destinations: destinationNames(form).flatMap((name) => plain[name] ?? [])
  }
}
