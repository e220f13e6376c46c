import type { Keyring } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { destinationNames, type InstalledProvider, type OlderSettings, sealSecrets, secretNames, type StoredSettings } from '@dispatch/host'
import { listConfigurationsOf, type OwnedConfiguration, type Owner } from '../store/configuration/configurations.ts'
import type { MigratedSettings } from '../store/configuration/migrated-settings.ts'
import { configurationFor, formsOfOthers, servingIn } from './serving.ts'
import { configurationFaults, openConfiguration, vaultOf } from './vault.ts'

type Options = { database: Database, keyring: Keyring }

/** All configurations of a provider that a version of it does not accept as they are. */
export async function configurationsRefusedBy ({ database, keyring }: Options, version: InstalledProvider): Promise<OwnedConfiguration[]> {
  const all = await listConfigurationsOf(database, version.code)
  return all.filter((stored) => configurationFaults(keyring, stored.companyId, version, stored).length > 0)
}

/** A configuration, with the version that serves it and the settings with which it does. `served` undefined: none does. */
export type ServedConfiguration = Owner & { served: { version: string, settings: StoredSettings } | undefined }

/** How the configurations of a provider are served by a version of it, and by the one before beside it. Undefined: by none. */
export async function configurationsServed (
  { database, keyring }: Options,
  { code, provider }: { code: string, provider: InstalledProvider | undefined }
): Promise<ServedConfiguration[]> {
  return (await listConfigurationsOf(database, code)).map((stored) => {
    const { companyId, userId } = stored
    const found = provider && servingIn(keyring, companyId, provider, stored)
    const isServed = found !== undefined && configurationFaults(keyring, companyId, found.provider, found.configuration).length === 0
    return {
      companyId,
      userId,
      served: isServed ? { version: found.provider.version, settings: found.configuration.settings } : undefined
    }
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
  const { version } = newer
  const made = await newer.migrateSettings?.(olderSettings(keyring, older, { ...served, companyId }))
  if (made === undefined) return undefined
  const settings = { plain: made.plain, secrets: sealSecrets(made.secrets, vaultOf(keyring, stored, providerCode), now) }
  const [fault] = configurationFaults(keyring, companyId, newer, { ...stored, settings })
  if (fault !== undefined) throw new TypeError(`What it made does not fit its form: ${fault.path} ${fault.message}`)
  const madeOf = { version: older.version, ...served.settings }
  const others = formsOfOthers(keyring, companyId, newer, stored).filter((form) => form.version !== madeOf.version && form.version !== null)
  return { companyId, userId, seen, version, settings, forms: [madeOf, ...others] }
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
