import { isSender, type JsonObject, type Keyring, type Log, memoizeByIdentity, type Problem, SealError } from '@dispatch/common'
import { checkSettings, type InstalledProvider, openReadable, openSettings, sandboxFaults, type Vault } from '@dispatch/host'
import { createRedactor, type Redactor } from '@dispatch/vendor-io'
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

/** Makes what hides the secrets of a configuration. */
export type RedactorFor = (configuration: StoredConfiguration) => Redactor

/** Hides the secrets of a company's configurations. One that cannot be opened is known to nobody. */
export function redactorsOf (keyring: Keyring, companyId: number): RedactorFor {
  return ({ userId, providerCode, settings, forms = [] }) => {
    const vault = vaultOf(keyring, { companyId, userId }, providerCode)
    return createRedactor([settings, ...forms].flatMap(({ secrets }) => Object.values(openReadable(secrets, vault).opened)))
  }
}

/** The problems of a stored configuration, by the provider's current manifest. Secrets that cannot be opened are one. */
export function configurationFaults (
  keyring: Keyring,
  companyId: number,
  { manifest }: Pick<InstalledProvider, 'manifest'>,
  configuration: StoredConfiguration
): Problem[] {
  let settings: JsonObject
  try {
    settings = openConfiguration(keyring, companyId, configuration)
  } catch (error) {
    if (error instanceof SealError) return [unreadable]
    throw error
  }
  return [
    ...checkSettings(manifest.settings, withoutVainSenders(settings), { base: '/settings' }),
    ...sandboxFaults(manifest, settings, configuration.sandbox)
  ]
}

/** Senders that were stored before such texts were refused: they match nobody, and are no reason to stop those that do. */
function withoutVainSenders (settings: JsonObject): JsonObject {
  const { allowedSenders: senders } = settings
  return Array.isArray(senders)
    ? { ...settings, allowedSenders: senders.filter((sender) => typeof sender === 'string' && isSender(sender)) }
    : settings
}

const unreadable: Problem = {
  path: '/settings',
  code: 'unreadable',
  message: 'has secrets that cannot be opened, because they were altered or stored under another master key: give them again'
}

/**
 * Validates stored configurations. The result is cached until the configuration or the provider changes. Secrets that cannot be opened are
 * told to the operator, too: they were altered, or the master key is another one.
 */
export function createConfigurationCheck (keyring: Keyring, log: Log): (
  companyId: number,
  provider: InstalledProvider,
  configuration: StoredConfiguration
) => readonly Problem[] {
  const known = memoizeByIdentity<StoredConfiguration, WeakMap<InstalledProvider, readonly Problem[]>>(() => new WeakMap())
  return (companyId, provider, configuration) => {
    const byProvider = known(configuration)
    const cached = byProvider.get(provider)
    if (cached !== undefined) return cached
    const problems = configurationFaults(keyring, companyId, provider, configuration)
    if (problems.includes(unreadable)) log.warn({ companyId, provider: provider.code }, 'the secrets of a configuration cannot be opened')
    byProvider.set(provider, problems)
    return problems
  }
}
