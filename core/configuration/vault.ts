import { type JsonObject, memoizeByIdentity, type Problem } from '@dispatch/common'
import type { Keyring } from '../access/keyring.ts'
import type { InstalledProvider } from '../host/load/load.ts'
import { sandboxFaults } from '../host/manifest/sandbox.ts'
import { checkSettings, openSettings, type Vault } from '../host/settings/settings.ts'
import type { Owner, StoredConfiguration } from '../store/configuration/configurations.ts'

/** The vault of one owner's configuration of a provider. Secrets of other owners do not open in it. */
export function vaultOf (keyring: Keyring, { companyId, userId }: Owner, providerCode: string): Vault {
  return { keyring, company: companyId, provider: providerCode, scope: scopeOf({ userId }) }
}

/** The owner of a configuration within its company: the whole company, or one user. */
export function scopeOf ({ userId }: Pick<Owner, 'userId'>): string {
  return userId === null ? 'company' : `user ${userId}`
}

/** A configuration with its decrypted secrets, for one call. */
export function openConfiguration (keyring: Keyring, companyId: number, configuration: StoredConfiguration): JsonObject {
  return openSettings(configuration.settings, vaultOf(keyring, { companyId, userId: configuration.userId }, configuration.providerCode))
}

/** The problems of a stored configuration, by the provider's current manifest. */
export function configurationFaults (
  keyring: Keyring,
  companyId: number,
  { manifest }: Pick<InstalledProvider, 'manifest'>,
  configuration: StoredConfiguration
): Problem[] {
  const settings = openConfiguration(keyring, companyId, configuration)
  return [...checkSettings(manifest.settings, settings, { base: '/settings' }), ...sandboxFaults(manifest, settings, configuration.sandbox)]
}

/** Validates stored configurations. The result is cached until the configuration or the provider changes. */
export function createConfigurationCheck (keyring: Keyring): (
  companyId: number,
  provider: InstalledProvider,
  configuration: StoredConfiguration
) => readonly Problem[] {
  const known = memoizeByIdentity<StoredConfiguration, WeakMap<InstalledProvider, readonly Problem[]>>(() => new WeakMap())
  return (companyId, provider, configuration) => {
    const byProvider = known(configuration)
    const problems = byProvider.get(provider) ?? configurationFaults(keyring, companyId, provider, configuration)
    byProvider.set(provider, problems)
    return problems
  }
}
