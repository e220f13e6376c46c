import type { ConfiguredBy } from '@dispatch/contract'
import type { InstalledProvider } from '@dispatch/host'
import type { CompanyConfiguration, StoredConfiguration } from '../store/configuration/configurations.ts'

/** Whether a configuration of a provider can reach a test environment of its vendor. */
export function reachesSandbox (
  { manifest: { sandbox } }: Pick<InstalledProvider, 'manifest'>,
  { settings: { plain, secrets }, sandbox: marked }: StoredConfiguration
): boolean {
  if (sandbox === undefined || sandbox.kind === 'configuration') return sandbox !== undefined && marked
  return (sandbox.needs ?? []).every((name) => Object.hasOwn(plain, name) || Object.hasOwn(secrets, name))
}

/** The configuration with which a recorded step was planned. If it has been removed since, no other one replaces it. */
export function configurationUsed (
  { configurations }: CompanyConfiguration,
  { providerCode, configuredBy, userId }: { providerCode: string, configuredBy: ConfiguredBy, userId: number }
): StoredConfiguration | undefined {
  if (configuredBy === 'nobody') return ofNobody(providerCode)
  const owner = configuredBy === 'user' ? userId : null
  return configurations.find((stored) => stored.providerCode === providerCode && stored.userId === owner)
}

/** The configuration with which a provider is called that replaces another one. */
function ofNobody (providerCode: string): StoredConfiguration {
  return { userId: null, providerCode, settings: { plain: {}, secrets: {} }, sandbox: true, updatedAt: new Date(0), account: '' }
}
