import { type JsonObject, memoizeByIdentity, type Problem } from '@dispatch/common'
import type { Keyring } from '../access/keyring.ts'
import type { InstalledProvider } from '../host/load/load.ts'
import { sandboxFaults } from '../host/manifest/sandbox.ts'
import { checkSettings, openSettings, type Vault } from '../host/settings/settings.ts'
import type { Owner, StoredConfiguration } from '../store/configuration/configurations.ts'

/** The vault of an owner's configuration of a provider: nobody else's secrets open in it. */
export function vaultOf (keyring: Keyring, { companyId, userId }: Owner, providerCode: string): Vault {
  return { keyring, company: companyId, provider: providerCode, scope: scopeOf({ userId }) }
}

/** Whose a configuration is within its company: all of it, or one user. */
export function scopeOf ({ userId }: Pick<Owner, 'userId'>): string {
  return userId === null ? 'company' : `user ${userId}`
}

/** A configuration complete with its secrets, for one call. */
export function openConfiguration (keyring: Keyring, companyId: number, configuration: StoredConfiguration): JsonObject {
  return openSettings(configuration.settings, vaultOf(keyring, { companyId, userId: configuration.userId }, configuration.providerCode))
}

/** What is wrong with a stored configuration, as the provider is today. */
export function configurationFaults (
  keyring: Keyring,
  companyId: number,
  { manifest }: Pick<InstalledProvider, 'manifest'>,
  configuration: StoredConfiguration
): Problem[] {
  const settings = openConfiguration(keyring, companyId, configuration)
  return [...checkSettings(manifest.settings, settings, { base: '/settings' }), ...sandboxFaults(manifest, settings, configuration.sandbox)]
}

/** Tells what is wrong with stored configurations, and remembers it for as long as neither they nor the provider change. */
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
