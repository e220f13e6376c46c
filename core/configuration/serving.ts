import { type Keyring, memoizeByIdentity, type Problem } from '@dispatch/common'
import type { ConfiguredBy } from '@dispatch/contract'
import type { Host, InstalledProvider } from '@dispatch/host'
import type { Configurations, StoredConfiguration } from '../store/configuration/configurations.ts'
import type { StoredForm } from '../store/configuration/forms.ts'
import { configurationUsed } from './sandbox.ts'
import { configurationFaults } from './vault.ts'

/** A version of a provider, and the configuration with which it is called. */
export type Serving = { provider: InstalledProvider, configuration: StoredConfiguration }

/** Checks a configuration against the form of a version. */
type ProblemsOf = (provider: InstalledProvider, configuration: StoredConfiguration) => readonly Problem[]

/**
 * The version of a provider that serves a configuration: the one that runs, or the one before where only that accepts the settings. Each is
 * served with the settings that were written in its form. Where nothing fits, the one that runs.
 */
export function servingOf (provider: InstalledProvider, configuration: StoredConfiguration, problemsOf: ProblemsOf): Serving {
  const [first, ...others] = [provider, provider.before].flatMap((version) =>
    version === undefined ? [] : formsOf(configuration).map((form): Serving => ({ provider: version, configuration: form }))
  )
  if (first === undefined) throw new TypeError('There is always the version that runs.')
  const fits = (serving: Serving): boolean => problemsOf(serving.provider, serving.configuration).length === 0
  return others.length === 0 || fits(first) ? first : others.find(fits) ?? first
}

/** The settings as they are, and those in the forms of other versions. Checks are remembered by the object: it is always the same one. */
const formsOf = memoizeByIdentity((configuration: StoredConfiguration): readonly StoredConfiguration[] => {
  const { forms = [], version: _, ...rest } = configuration
  return [configuration, ...forms.map(({ version, plain, secrets }): StoredConfiguration => ({
    ...rest,
    settings: { plain, secrets },
    ...(version !== null && { version })
  }))]
})

/**
 * The settings in the forms of other versions than the one that is given, the newest first. Each such version is served with them should it
 * run again, after a rollback or on the way forward.
 */
export function formsOfOthers (
  keyring: Keyring,
  companyId: number,
  provider: InstalledProvider,
  configuration: StoredConfiguration
): StoredForm[] {
  const versions = new Set([provider.version])
  return formsOf(configuration).flatMap((form) => {
    const { version, settings } = form
    if (version !== undefined && versions.has(version)) return []
    const faults = configurationFaults(keyring, companyId, provider, form)
    // What cannot be opened is of no use to any version. Who does not know the version of a form knows whether this one accepts it.
    if (faults.some(({ code }) => code === 'unreadable') || (version === undefined && faults.length === 0)) return []
    if (version !== undefined) versions.add(version)
    return [{ version: version ?? null, ...settings }]
  })
}

/** The configuration in the form that a version accepts, whatever else runs. */
export function configurationFor (
  keyring: Keyring,
  companyId: number,
  { before: _, ...provider }: InstalledProvider,
  configuration: StoredConfiguration
): StoredConfiguration {
  return servingOf(provider, configuration, faultsOf(keyring, companyId)).configuration
}

/** What serves a configuration, for who has no remembered checks at hand. */
export function servingIn (keyring: Keyring, companyId: number, provider: InstalledProvider, configuration: StoredConfiguration): Serving {
  return servingOf(provider, configuration, faultsOf(keyring, companyId))
}

function faultsOf (keyring: Keyring, companyId: number): ProblemsOf {
  return (provider, configuration) => configurationFaults(keyring, companyId, provider, configuration)
}

/** The version of an installed provider that serves a recorded step, by the configuration with which it was planned. */
export async function providerOfStep (
  { host, configurations, keyring }: { host: Host, configurations: Configurations, keyring: Keyring },
  { companyId, userId, code, configuredBy }: { companyId: number, userId: number, code: string, configuredBy: ConfiguredBy }
): Promise<InstalledProvider | undefined> {
  const provider = host.find(code)
  if (provider?.before === undefined) return provider
  const configuration = configurationUsed(await configurations.of(companyId), { providerCode: code, configuredBy, userId })
  return configuration === undefined ? provider : servingIn(keyring, companyId, provider, configuration).provider
}
