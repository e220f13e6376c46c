import type { Actor } from '@dispatch/accounts'
import { boundedValidator, compile, isRecord, type JsonObject, type Log } from '@dispatch/common'
import { DispatchError, refusal, retrySchema, type Version, versionNames } from '@dispatch/contract'
import { formatOf, furtherDocuments, givenDocument, type ServiceName, serviceNames, services } from '@dispatch/services'
import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { failedDeferred } from '../../store/dispatch/deferred.ts'
import type { DispatchRecord, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import type { Replacement } from '../../store/dispatch/runs.ts'
import { isWhole, keepFiles } from '../enclosures.ts'
import { recordedTemplate } from '../plan/recorded-template.ts'
import { recheck, type RecheckDependencies } from '../run/recheck.ts'
import type { Templates } from '../templates.ts'

const readerOf = (service: ServiceName, version: Version) =>
  boundedValidator(compile(Type.Unsafe<Readonly<Record<string, JsonObject>>>(retrySchema(service, version))))
const readers = new Map(
  versionNames.map((version) => [version, new Map(serviceNames.map((name) => [name, readerOf(name, version)]))])
)

/**
 * The fields with which the body of a retry replaces those of a step that failed, on the path or deferred; undefined for an empty body.
 * `link`: a sample, as long as every document link. Throws `conflict` when no step has failed, `document_expired` when its document is no
 * longer kept, and the error of a request of this version with these fields.
 */
export async function replacementOf (
  dependencies: RecheckDependencies,
  record: DispatchRecord,
  { body, link, actor, version }: { body: unknown, link: string, actor: Actor, version: Version }
): Promise<Replacement | undefined> {
  const { dispatch_id: dispatchId } = record
  const step = failedStep(record, body)
  if (step === undefined) throw notToRetry(record)
  // A deferred step that has a document has its own: the dispatch's document may have expired.
  const needed = step.deferred_on === null ? record.steps : [step]
  const now = await dependencies.database.time()
  if (record.data === null || needed.some(({ document }) => document !== undefined && document.expires_at <= now)) {
    throw new DispatchError('document_expired', 'The data or the document of the dispatch is no longer kept: send a new request.', {
      dispatchId
    })
  }
  if (body === undefined || body === null || isDeepStrictEqual(body, {})) return undefined
  const service = step.service as ServiceName
  const made = await subjectKept(dependencies, record, step, body)
  const fit = readers.get(version)?.get(service)?.(made === undefined ? body : withKept(body, step, made))
  if (fit?.ok !== true) throw refusal('validation_error', fit?.problems ?? [])
  const { [givenDocument]: given, [furtherDocuments]: further } = step.fields
  const fields = {
    ...(further === undefined ? {} : { [furtherDocuments]: further }),
    ...fit.value[service],
    ...(given === undefined ? {} : { [givenDocument]: given })
  }
  refuseContent(service, fields, (step.position === 0 ? record.template_id : step.template_id) !== null)
  refuseChanges(record, step, fields)
  await recheck(dependencies, record, { step, fields, actor, made, ...(step.position > 0 ? { link } : {}) })
  const whole = isWhole(fields, step.document, step.made)
  await keepFiles(dependencies.shelves, record.company_id, [{ service, fields, whole }], dependencies.now())
  const recipient = recipientOf(record, step, fields)
  return { stepId: step.step_id, fields, requestSettings: step.request_settings, ...(recipient === undefined ? {} : { recipient }) }
}

/** The field that a body leaves to a template with a subject: a retry sends what was made, so that it stays as it is. */
async function subjectKept (
  dependencies: { templates: Templates, log: Log },
  record: DispatchRecord,
  step: StepRecord,
  body: unknown
): Promise<string | undefined> {
  const own = isRecord(body) ? body[step.service] : undefined
  const { subject } = services[step.service as ServiceName].template ?? {}
  if (!isRecord(own) || subject === undefined || Object.hasOwn(own, subject)) return undefined
  return (await recordedTemplate(dependencies, record, step))?.source.subject === undefined ? undefined : subject
}

/** A body whose object of the step has a field as the step has it. */
function withKept (body: unknown, { service, fields }: StepRecord, field: string): object {
  const { [service]: own, ...others } = body as Readonly<Record<string, object>>
  return { ...others, [service]: { ...own, [field]: fields[field] } }
}

/** Whom the dispatch goes to with the new fields of a step: the first recipient of its path, as when it was planned. */
function recipientOf (record: DispatchRecord, replaced: StepRecord, fields: JsonObject): string | undefined {
  const recipients = record.steps.filter(({ deferred_on: deferredOn }) => deferredOn === null).map((step) => {
    const data = step.position === 0 ? record.data : step.data
    return services[step.service as ServiceName].facts(step === replaced ? fields : step.fields, data ?? {}).recipient
  })
  return recipients.find((recipient) => recipient !== undefined)
}

/** Whether a dispatch ended before all steps of its path were done. */
export function isUnfinished ({ status }: Pick<DispatchRecord, 'status'>): boolean {
  return status === 'failed' || status === 'partial'
}

/** The step that failed, on the path or deferred. Of several, the first whose service the body names, or else the first. */
function failedStep (record: DispatchRecord, body: unknown): StepRecord | undefined {
  const ofPath = isUnfinished(record)
    ? record.steps.filter((step) => step.deferred_on === null && step.status !== 'accepted').slice(0, 1)
    : []
  const failed = [...ofPath, ...failedDeferred(record)]
  return failed.find(({ service }) => typeof body === 'object' && body !== null && Object.hasOwn(body, service)) ?? failed[0]
}

function notToRetry ({ dispatch_id: dispatchId, status }: DispatchRecord): DispatchError {
  const why = status === 'uncertain'
    ? `its outcome is being found out; an admin may also set it with POST /api/v1/dispatches/${dispatchId}/resolve`
    : 'only one that failed, or of which a deferred action failed, is tried again'
  return new DispatchError('conflict', `The dispatch is ${status}: ${why}.`, { reason: 'state_forbids', dispatchId })
}

/** Refuses fields that change whether the step has a template: a text replaces a template, and a retry keeps what the step had. */
function refuseContent (service: ServiceName, fields: JsonObject, hasTemplate: boolean): void {
  const { unless, exclusive = false } = services[service].template ?? {}
  if (unless === undefined) return
  const [path, isGiven] = [`/${service}/${unless}`, fields[unless] !== undefined]
  if (!hasTemplate && !isGiven) {
    throw refusal('validation_error', [{ path, code: 'required', message: `The field "${unless}" is required: the step has no template.` }])
  }
  if (hasTemplate && isGiven && exclusive) {
    throw refusal('validation_error', [{
      path,
      code: 'contradiction',
      message: 'The step has a template: leave out the field that would replace it.'
    }])
  }
}

/** Refuses fields that would change the document: it is made already, and a retry sends it as it is. */
function refuseChanges (record: DispatchRecord, step: StepRecord, fields: JsonObject): void {
  const service = services[step.service as ServiceName]
  const { documentType = null } = service.facts(fields, record.data ?? {})
  const [had, has] = [service.signers?.(step.fields).length, service.signers?.(fields).length]
  const problems = [
    ...(step.position > 0 || documentType === record.document_type
      ? []
      : [{
        path: `/${service.name}/documentType`,
        code: 'document_made',
        message: `A retry sends the document that was made before: give the same type (${record.document_type ?? 'none'}).`
      }]),
    ...(formatOf(service.name as ServiceName, step.fields) === formatOf(service.name as ServiceName, fields)
      ? []
      : [{
        path: `/${service.name}/${service.format?.field ?? ''}`,
        code: 'document_made',
        message: 'A retry sends the document that was made before: give the same format.'
      }]),
    ...(step.document === undefined || isDeepStrictEqual(step.fields[furtherDocuments], fields[furtherDocuments])
      ? []
      : [{
        path: `/${service.name}/${furtherDocuments}`,
        code: 'document_made',
        message: 'A retry sends the document that was made before: leave out what follows it, or give the same.'
      }]),
    ...(had === has || !record.steps.some(({ document }) => document !== undefined)
      ? []
      : [{
        path: `/${service.name}/signers`,
        code: 'document_made',
        message: `A retry sends the document that was made before: give the same number of signers (${had ?? 0}).`
      }])
  ]
  if (problems.length > 0) throw refusal('validation_failed', problems)
}
