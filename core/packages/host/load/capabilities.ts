import type { JsonObject } from '@dispatch/common'
import type { ProviderFacts, ServiceName } from '@dispatch/services'
import type { InstalledProvider } from './load.ts'

/** The capabilities that a service's rules see: those of the provider chosen for the service, if one was chosen. */
export function capabilitiesOf (provider: InstalledProvider | undefined, service: ServiceName): ProviderFacts<JsonObject> | undefined {
  const capabilities = provider?.manifest.services[service]?.capabilities
  return provider === undefined || capabilities === undefined ? undefined : { code: provider.code, capabilities }
}
