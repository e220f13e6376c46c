import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { configurationUsed } from '../configuration/sandbox.ts'
import { DispatchError, refusal } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { compile, guarded, type Check } from '../contract/schema.ts'
import { formatOf, services, serviceNames, type ServiceName } from '../services/index.ts'
import type { DispatchRecord, StepRecord } from '../store/dispatch-views.ts'
import type { Replacement } from '../store/runs.ts'
import { checkAgain } from './check.ts'
import type { Parts } from './parts.ts'

const closed = { additionalProperties: false }
const readers = new Map<ServiceName, Check<Readonly<Record<string, JsonObject>>>>(serviceNames.map((name) => [name, guarded(compile(Type.Unsafe<Readonly<Record<string, JsonObject>>>(Type.Object({ [name]: services[name].fields }, closed))))]))

/**
 * What the body of a retry puts in place of the failed step's object: undefined for none. `link`: as long as that of every document. Throws `conflict` when no step has
 * failed, `document_expired` when its document is kept no more, and what a request with that object would.
 */
export async function replacementOf (parts: Parts, record: DispatchRecord, { body, link }: { body: unknown, link: string }): Promise<Replacement | undefined> {
  const { dispatch_id: dispatchId, status, steps } = record
  const step = steps.find((one) => one.deferred_on === null && one.status !== 'accepted')
  if (step === undefined || (status !== 'failed' && status !== 'partial')) throw notToRetry(record)
  if (record.data === null || steps.some(({ document }) => document !== undefined && document.expires_at <= parts.now())) {
    throw new DispatchError('document_expired', 'What the dispatch was about is kept no more: send a new request.', { dispatchId })
  }
  if (body === undefined || body === null || isDeepStrictEqual(body, {})) return undefined
  const service = step.service as ServiceName
  const fit = readers.get(service)?.(body)
  if (fit?.ok !== true) throw refusal('validation_error', fit?.problems ?? [])
  const fields = fit.value[service] ?? {}
  refuseContent(service, fields, (step.position === 0 ? record.template_id : step.template_id) !== null)
  refuseChanges(record, step, fields)
  await recheck(parts, record, { step, fields, ...(step.position > 0 ? { link } : {}) })
  return { stepId: step.step_id, fields, requestSettings: step.request_settings }
}

function notToRetry ({ dispatch_id: dispatchId, status }: DispatchRecord): DispatchError {
  const why = status === 'uncertain' ? `what became of it is being found out, or said by an admin with POST /api/v1/dispatches/${dispatchId}/resolve` : 'only one that failed is tried again'
  return new DispatchError('conflict', `The dispatch is ${status}: ${why}.`, { dispatchId })
}

/** The template of a step stays what it was: a field that takes its place is needed without one, and may not stand beside it. */
function refuseContent (service: ServiceName, fields: JsonObject, hasTemplate: boolean): void {
  const { unless, exclusive = false } = services[service].template ?? {}
  if (unless === undefined) return
  const [path, isGiven] = [`/${service}/${unless}`, fields[unless] !== undefined]
  if (!hasTemplate && !isGiven) throw refusal('validation_error', [{ path, code: 'required', message: `The field "${unless}" is required: the step has no template.` }])
  if (hasTemplate && isGiven && exclusive) throw refusal('validation_error', [{ path, code: 'contradiction', message: 'Stands in the place of the template that the step has; leave it out.' }])
}

/** The document that was made stays what it is: nothing that it shows may become another. */
function refuseChanges (record: DispatchRecord, step: StepRecord, fields: JsonObject): void {
  const service = services[step.service as ServiceName]
  const { documentType = null } = service.facts(fields, record.data ?? {})
  const [had, has] = [service.signers?.(step.fields).length, service.signers?.(fields).length]
  const problems = [
    ...(step.position > 0 || documentType === record.document_type ? [] : [{ path: `/${service.name}/documentType`, code: 'document_made', message: `The document was made as ${record.document_type ?? 'no'} document and is not made again: leave its type as it was.` }]),
    ...(formatOf(service.name as ServiceName, step.fields) === formatOf(service.name as ServiceName, fields) ? [] : [{ path: `/${service.name}/${service.format?.field ?? ''}`, code: 'document_made', message: 'The steps of the dispatch take the document in the format in which it was asked for: leave it as it was.' }]),
    ...(had === has || !record.steps.some(({ document }) => document !== undefined) ? [] : [{ path: `/${service.name}/signers`, code: 'document_made', message: `The document has places for ${had ?? 0} ${had === 1 ? 'signer' : 'signers'} and is not made again: leave their number as it was.` }])
  ]
  if (problems.length > 0) throw refusal('validation_failed', problems)
}

/** The rules of the service, with the provider that the step has. */
async function recheck ({ host, configurations, now }: Parts, record: DispatchRecord, { step, fields, link }: { step: StepRecord, fields: JsonObject, link?: string }): Promise<void> {
  const service = step.service as ServiceName
  const provider = step.provider_code === null ? undefined : host.find(step.provider_code)
  const { provider_code: providerCode, configured_by: configuredBy } = step
  const configuration = providerCode === null || configuredBy === null ? undefined : configurationUsed(await configurations.latest(record.company_id), { providerCode, configuredBy, userId: record.user_id })
  const choice = provider === undefined || configuration === undefined ? {} : { choice: { chosen: true as const, chosenBy: step.chosen_by ?? 'company', provider, configuration } }
  checkAgain({ service, fields, settings: step.request_settings, at: (field) => `/${service}/${field}`, ...choice }, { data: record.data ?? {}, now, beside: record.services.filter((name) => name !== service), ...(link === undefined ? {} : { link }) })
}
