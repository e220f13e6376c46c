import { configurationOf } from '../configuration/choose.ts'
import { openConfiguration } from '../configuration/vault.ts'
import type { DocumentHandle } from '../contract/common.ts'
import { callDispatch, type Outcome } from '../host/call.ts'
import type { ServiceContracts } from '../host/contracts.ts'
import { logWith } from '../host/log.ts'
import type { ServiceName } from '../services/index.ts'
import { createProviderState } from '../store/provider-state.ts'
import { outsideOf } from './outside.ts'
import type { Parts } from './parts.ts'
import type { Run, RunStep } from './run.ts'

/** Calls the provider of a step once, with the credentials as they are now. Every failure is an outcome. */
export async function callProvider (parts: Parts, run: Run, step: RunStep, document: DocumentHandle): Promise<Outcome> {
  const { companyId, actor } = run
  const { provider, sandbox, requestSettings, service, stepId } = step
  const company = await parts.configurations.of(companyId)
  // A user's configuration may have gone since it was planned with; the company's must not step in for it.
  const configuration = configurationOf(company, step.configuredBy === 'user' ? actor : nobody, provider.code)
  if (configuration === undefined || (configuration.userId === null) !== (step.configuredBy === 'company')) {
    return { outcome: 'unavailable', error: { word: 'provider_unavailable', message: `The provider "${provider.code}" was not called: its configuration has been removed.` } }
  }
  return callDispatch(provider, service, requestOf(run, step, document), {
    settings: openConfiguration(parts.keyring, companyId, configuration),
    requestSettings,
    sandbox,
    reference: stepId,
    idempotencyKey: stepId,
    log: logWith(parts.log, { companyId, dispatchId: run.dispatchId, provider: provider.code }),
    state: createProviderState(parts.database, companyId, provider.code, parts.now),
    now: parts.now,
    outside: await outsideOf(parts, run, step, configuration.userId === null ? 'company' : `user ${configuration.userId}`)
  })
}

const nobody = { userId: 0 }

/** What the provider is asked: the service's own object under its name, which the schema of the service has vouched for. */
function requestOf (run: Run, { service, fields }: RunStep, document: DocumentHandle): ServiceContracts[ServiceName]['dispatch'] {
  const request: object = { [service]: fields, data: run.data, document: handleOf(document), metadata: run.metadata }
  return request as ServiceContracts[ServiceName]['dispatch']
}

function handleOf ({ id, filename, contentType, size, sha256 }: DocumentHandle): DocumentHandle {
  return { id, filename, contentType, size, sha256 }
}
