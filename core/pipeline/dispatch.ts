import { openConfiguration } from '../configuration/vault.ts'
import type { DocumentHandle } from '../contract/common.ts'
import { DispatchError } from '../contract/errors.ts'
import { callDispatch, type Outcome } from '../host/call.ts'
import type { ServiceContracts } from '../host/contracts.ts'
import { logWith } from '../host/log.ts'
import type { ServiceName } from '../services/index.ts'
import type { StoredConfiguration } from '../store/configurations.ts'
import { createProviderState } from '../store/provider-state.ts'
import { outsideOf } from './outside.ts'
import type { Parts } from './parts.ts'
import type { Run, RunStep } from './run.ts'

/** Readies the one call of a step's provider, with the credentials as they are now. Throws before anything is sent; every failure of the call is an outcome. */
export async function prepareCall (parts: Parts, run: Run, step: RunStep, document: DocumentHandle): Promise<() => Promise<Outcome>> {
  const { companyId, dispatchId } = run
  const { provider, service, stepId, requestSettings, sandbox } = step
  const context = {
    settings: openConfiguration(parts.keyring, companyId, await configurationFor(parts, run, step)),
    requestSettings,
    sandbox,
    reference: stepId,
    idempotencyKey: stepId,
    log: logWith(parts.log, { companyId, dispatchId, provider: provider.code }),
    state: createProviderState(parts.database, companyId, provider.code, parts.now),
    now: parts.now
  }
  return () => callDispatch(provider, service, requestOf(run, step, document), context)
}

/** The configuration that the step was planned with: no other steps in for one that has gone since. */
async function configurationFor ({ configurations }: Parts, { companyId, actor }: Run, { provider: { code }, configuredBy }: RunStep): Promise<StoredConfiguration> {
  const owner = configuredBy === 'user' ? actor.userId : null
  const { configurations: all } = await configurations.latest(companyId)
  const configuration = all.find(({ providerCode, userId }) => providerCode === code && userId === owner)
  if (configuration === undefined) throw new DispatchError('provider_unavailable', `The provider "${code}" was not called: its configuration has been removed.`)
  return configuration
}

/** What the provider is asked: the service's own object under its name, which the schema of the service has vouched for. */
function requestOf (run: Run, { service, fields }: RunStep, document: DocumentHandle): ServiceContracts[ServiceName]['dispatch'] {
  const request: object = { [service]: fields, data: run.data, document: handleOf(document), metadata: run.metadata }
  return request as ServiceContracts[ServiceName]['dispatch']
}

function handleOf ({ id, filename, contentType, size, sha256 }: DocumentHandle): DocumentHandle {
  return { id, filename, contentType, size, sha256 }
}
