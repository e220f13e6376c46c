import { openConfiguration, scopeOf } from '../../configuration/vault.ts'
import type { CallResources } from '../../host/call/call-resources.ts'
import type { CallContext } from '../../host/call/invoke.ts'
import { logWith } from '../../host/call/log.ts'
import type { InstalledProvider } from '../../host/load/load.ts'
import type { StoredConfiguration } from '../../store/configuration/configurations.ts'
import { createProviderState } from '../../store/vendor/provider-state.ts'
import type { PipelineDependencies } from '../dependencies.ts'

/** What a provider is called about: a step of a dispatch. */
type CallSubject =
  & { companyId: number, dispatchId: string, provider: InstalledProvider }
  & Pick<CallContext, 'sandbox' | 'reference' | 'idempotencyKey' | 'requestSettings' | 'rest'>

/** What a provider is given with every call about a step: its configuration as it is now, and what it may reach. */
export function callContextOf (
  { keyring, database, network, log, now }: Pick<PipelineDependencies, 'keyring' | 'database' | 'network' | 'log' | 'now'>,
  { companyId, dispatchId, provider, ...subject }: CallSubject,
  configuration: StoredConfiguration,
  resources: Omit<CallResources, 'network' | 'account'>
): CallContext {
  return {
    ...subject,
    settings: openConfiguration(keyring, companyId, configuration),
    log: logWith(log, { companyId, dispatchId, provider: provider.code }),
    state: createProviderState(database, companyId, provider.code, now),
    now,
    resources: { ...resources, network, account: `${companyId}|${provider.code}|${scopeOf(configuration)}` }
  }
}
