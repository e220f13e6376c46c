import { configurationUsed } from '../../configuration/sandbox.ts'
import { DispatchError } from '../../contract/errors.ts'
import { type CallContext, callDispatch, type FailedCall, type Outcome } from '../../host/call/call.ts'
import { failedCall } from '../../host/call/invoke.ts'
import type { StepContent } from '../../services/content.ts'
import { needsProvider, services } from '../../services/index.ts'
import type { StoredConfiguration } from '../../store/configuration/configurations.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { callContextOf } from './call-context.ts'
import { callResourcesOf } from './call-resources.ts'
import type { ProviderStep, Run } from './run.ts'

/**
 * Readies the one call of a step's provider, with the credentials as they are now. Throws before anything is sent; every failure of the
 * call is an outcome.
 */
export async function prepareCall (
  parts: PipelineDependencies,
  run: Run,
  step: ProviderStep,
  made: StepContent
): Promise<() => Promise<Outcome>> {
  const { service, fields, by: { provider } } = step
  if (!needsProvider(service)) throw new TypeError(`The service "${service}" has no provider.`)
  const context = await contextOf(parts, run, step)
  const request = services[service].request(fields, made)
  const gate = parts.breakers.admit(run.companyId, provider.code)
  if (!gate.pass) {
    throw new DispatchError('provider_unavailable',
      `The provider "${provider.code}" has failed again and again: it is asked anew in ${gate.retryAfter} seconds.`, {
      retryAfter: gate.retryAfter
    })
  }
  return async () => {
    if (!await parts.leases.refresh(run.runId)) {
      return failedCall('provider_unavailable', 'Nothing was sent: this process has lost the dispatch.', { ours: true })
    }
    const outcome = await callDispatch(provider, service, request, context)
    parts.breakers.record(run.companyId, provider.code, outcome)
    if (outcome.outcome !== 'accepted') logRefusal(parts, run, provider.code, outcome)
    return outcome
  }
}

/** One line, without the vendor's sentence: it may name a recipient. */
function logRefusal (
  { log }: PipelineDependencies,
  { companyId, dispatchId }: Run,
  provider: string,
  { outcome, error: { word, code } }: FailedCall
): void {
  log.warn({ companyId, dispatchId, provider, outcome, error: word, ...(code === undefined ? {} : { code }) },
    'the provider did not accept a request')
}

/** What a provider is given for a step, whatever it is asked. Throws `provider_unavailable` when its configuration has gone. */
export async function contextOf (parts: PipelineDependencies, run: Run, step: ProviderStep): Promise<CallContext> {
  const { companyId, dispatchId } = run
  const { stepId, requestSettings, generation, rest, by: { provider, sandbox } } = step
  return callContextOf(parts, {
    companyId,
    dispatchId,
    provider,
    sandbox,
    requestSettings,
    reference: rest?.of ?? stepId,
    idempotencyKey: generation === 0 ? stepId : `${stepId}:${generation}`,
    ...(rest === undefined ? {} : { rest: { answer: rest.answer, recipients: rest.recipients } })
  }, await configurationFor(parts, run, step), await callResourcesOf(parts, run, step))
}

async function configurationFor (
  { configurations }: PipelineDependencies,
  { companyId, actor }: Run,
  { by: { provider: { code }, configuredBy } }: ProviderStep
): Promise<StoredConfiguration> {
  const configuration = configurationUsed(await configurations.latest(companyId), {
    providerCode: code,
    configuredBy,
    userId: actor.userId
  })
  if (configuration === undefined) {
    throw new DispatchError('provider_unavailable', `The provider "${code}" was not called: its configuration has been removed.`)
  }
  return configuration
}
