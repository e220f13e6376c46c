import type { Keyring } from '@dispatch/common'
import type { Host } from '@dispatch/host'
import type { ServiceName } from '@dispatch/services'
import { providerOfStep } from '../../configuration/serving.ts'
import type { Configurations } from '../../store/configuration/configurations.ts'
import type { StepProvider } from '../step.ts'

export type ProviderDependencies = { host: Host, configurations: Configurations, keyring: Keyring }

/** The provider of a step with what of it is installed now, if that can do the service. */
export async function installedFor (
  dependencies: ProviderDependencies,
  who: { companyId: number, userId: number },
  service: ServiceName,
  by: StepProvider
): Promise<StepProvider> {
  const provider = await providerOfStep(dependencies, { ...who, ...by })
  return provider?.verbs[service]?.dispatch === undefined ? by : { ...by, provider }
}
