import type { JsonObject } from '@dispatch/common'
import type { Actor } from '../../access/account.ts'
import type { DocumentHandle } from '../../contract/common.ts'
import type { ProviderResponse } from '../../contract/response.ts'
import type { ServiceName } from '../../contract/service-names.ts'
import type { ConfiguredBy } from '../../contract/states.ts'
import type { InstalledProvider } from '../../host/load/load.ts'
import type { EventActor } from '../../store/db/schema.ts'
import type { DispatchRecord, StepRecord, StepRow } from '../../store/dispatch/dispatch-views.ts'
import type { NewDispatch } from '../../store/dispatch/dispatches.ts'
import type { NewDocument } from '../../store/dispatch/documents.ts'
import type { StoredTemplate } from '../../store/templates/templates.ts'
import type { DispatchPlan, PlannedStep, TemplateContent } from '../plan/plan.ts'
import { mergedResponse, waitingIn } from '../respond/merged-response.ts'
import { type StepResult, stepResultOf } from '../respond/result.ts'
import { type StoredDocument, storedDocument } from './stored-document.ts'

/** A recorded dispatch under way: what every stage after the check works on, whether it begins or goes on. */
export type Run = {
  /** Of the lease under which it runs. */
  runId: string
  dispatchId: string
  companyId: number
  /** Who began it: their configuration holds, whoever lets it go on. */
  actor: Extract<EventActor, { kind: 'user' }>
  metadata: Readonly<Record<string, string>>
  /** What names the document, if the data has it. */
  documentNumber?: string
  callbackUrl?: string
  /** Asked for with a test key. */
  test: boolean
  /** No client waits for its end. */
  detached: boolean
  createdAt: Date
  /** Those of its path, in their order. */
  steps: readonly RunStep[]
  /** Those beside its path: they wait for events of it, or go on with what a step left. */
  deferred: readonly RunStep[]
}

/** `content`: what was made for it before, which is never made again. `result`: what it had come to when the run began. */
export type RunStep = {
  stepId: string
  service: ServiceName
  fields: JsonObject
  requestSettings: JsonObject
  /** What is made for this step alone. */
  template?: TemplateContent
  /** Not of a service that is done here. */
  by?: { provider: InstalledProvider, configuredBy: ConfiguredBy, sandbox: boolean }
  /** In credits. */
  price: number
  /** The version that it was planned or called with. */
  providerVersion?: string
  /** Why it cannot be done: what it names is gone. */
  missing?: string
  /** The event that it waited for. */
  deferredOn?: string
  /**
   * It goes on with what the step `of` left: with everything of that step, for these recipients alone. `answer`: of all that was done until
   * now.
   */
  rest?: { of: string, answer: ProviderResponse, recipients: string[] }
  content: StoredContent
  result: StepResult
  /** How often it was surely not sent since it was planned or accepted before. */
  tries: number
  /** How often the vendor has refused it for sure: each begins with another idempotency key. */
  generation: number
  looks: number
}

/** Whether a step is beside the path of its dispatch, which neither waits for it nor changes with it. */
export function isOffPath ({ deferredOn, rest }: RunStep): boolean {
  return deferredOn !== undefined || rest !== undefined
}

/** A step that a provider does. */
export type ProviderStep = RunStep & Required<Pick<RunStep, 'by'>>

/** What was made of a step's template or came with the request: a document, and whatever else there is, as plain data. */
export type StoredContent = { document?: StoredDocument, made?: JsonObject }

/** Who begins a dispatch, and under which request. `file`: what came with it. */
export type RunOrigin = {
  companyId: number
  actor: Run['actor']
  requestId: string
  runId: string
  detached: boolean
  newId: () => string
  now: Date
  file?: NewDocument
}

/** The run of a new dispatch, and the record that goes before it. */
export function beginRun (
  { request, facts, ...plan }: DispatchPlan,
  { companyId, actor, requestId, runId, detached, newId, now, file }: RunOrigin
): { run: Run, record: NewDispatch } {
  const shared = {
    dispatchId: newId(),
    companyId,
    actor,
    test: plan.test,
    metadata: request.metadata,
    ...(request.callbackUrl === undefined ? {} : { callbackUrl: request.callbackUrl })
  }
  const identified = (step: PlannedStep & { deferredOn?: string }) => ({ ...step, stepId: newId(), sandbox: step.by?.sandbox ?? false })
  const [steps, deferred] = [plan.steps.map(identified), plan.deferred.map(identified)]
  const begun = ({ content, ...step }: ReturnType<typeof identified>, given: StoredContent): RunStep => ({
    ...step,
    ...(content === undefined ? {} : { template: content }),
    content: given,
    result: unbegun(step),
    tries: 0,
    generation: 0,
    looks: 0
  })
  return {
    run: {
      ...shared,
      runId,
      detached,
      ...(facts.documentNumber === undefined ? {} : { documentNumber: facts.documentNumber }),
      createdAt: now,
      steps: steps.map((step, index) => begun(step, file !== undefined && index === 0 ? { document: storedDocumentOfNew(file) } : {})),
      deferred: deferred.map((step) => begun(step, {}))
    },
    record: {
      ...shared,
      ...facts,
      requestId,
      services: request.services,
      ...(file === undefined ? {} : { document: file }),
      steps: [...steps, ...deferred].map(({ by, ...step }) => ({
        ...step,
        ...(by === undefined ? {} : { by: { ...by, providerCode: by.provider.code, providerVersion: by.provider.version } })
      }))
    }
  }
}

function unbegun ({ service, by }: Pick<PlannedStep, 'service' | 'by'>): StepResult {
  return {
    service,
    providerName: by?.provider.code ?? null,
    sandbox: by?.sandbox ?? false,
    status: 'planned',
    response: null,
    document: null,
    error: null,
    charged: 0
  }
}

/** What a record names, as it is installed and stored now. */
export type RunLookups = {
  providerOf: (step: StepRecord) => InstalledProvider | undefined
  templateOf: (step: StepRecord) => StoredTemplate | undefined
}

/** The run of a recorded dispatch that goes on. */
export function resumeRun (record: DispatchRecord, { runId, ...found }: RunLookups & { runId: string }): Run {
  const all = record.steps.map((step) => resumed(record, step, found))
  return {
    runId,
    dispatchId: record.dispatch_id,
    companyId: record.company_id,
    actor: { kind: 'user', userId: record.user_id, ...(record.impersonator_id === null ? {} : { impersonatorId: record.impersonator_id }) },
    metadata: record.metadata,
    ...(record.callback_url === null ? {} : { callbackUrl: record.callback_url }),
    test: record.test,
    detached: record.detached,
    createdAt: record.created_at,
    ...(record.document_number === null ? {} : { documentNumber: record.document_number }),
    steps: all.filter((step) => step.deferredOn === undefined),
    deferred: [...all.filter((step) => step.deferredOn !== undefined), ...record.steps.flatMap((step, index) => restIn(step, all[index]))]
  }
}

/** What of a step is left to do: the last of its rests, unless that has come to its end. */
function restIn ({ rests, ...step }: StepRecord, of: RunStep | undefined): RunStep[] {
  const last = rests.at(-1)
  const answer = mergedResponse({ ...step, rests: rests.slice(0, -1) })
  if (of === undefined || last === undefined || answer === null ||
    (last.next_try_at === null && !['calling', 'uncertain'].includes(last.status))) return []
  return [{
    ...of,
    ...stateOf(last),
    stepId: last.step_id,
    price: 0,
    result: stepResultOf({ ...last, document: undefined, rests: [] }),
    rest: { of: of.stepId, answer, recipients: waitingIn(answer).map(({ address }) => address) }
  }]
}

function resumed (record: DispatchRecord, step: StepRecord, { providerOf, templateOf }: RunLookups): RunStep {
  const [template, provider] = [templateOf(step), providerOf(step)]
  return {
    stepId: step.step_id,
    service: step.service as ServiceName,
    fields: step.fields,
    requestSettings: step.request_settings,
    ...(template === undefined ? {} : { template: { template, data: (step.position === 0 ? record.data : step.data) ?? {} } }),
    ...(provider === undefined || step.configured_by === null
      ? {}
      : { by: { provider, configuredBy: step.configured_by, sandbox: step.sandbox } }),
    ...(provider === undefined && step.provider_code !== null
      ? { missing: `The provider "${step.provider_code}" is not installed any more.` }
      : {}),
    ...(step.deferred_on === null ? {} : { deferredOn: step.deferred_on }),
    content: {
      ...(step.document === undefined ? {} : { document: storedDocument(step.document) }),
      ...(step.made === null ? {} : { made: step.made })
    },
    price: step.price,
    result: stepResultOf(step),
    ...stateOf(step)
  }
}

/** How far a step has come. */
function stateOf (step: StepRow): Pick<RunStep, 'tries' | 'generation' | 'looks' | 'providerVersion'> {
  return {
    tries: step.tries,
    generation: step.generation,
    looks: step.looks,
    ...(step.provider_version === null ? {} : { providerVersion: step.provider_version })
  }
}

/** A document that was just made or received, as the store will tell of it. */
export function storedDocumentOfNew ({ documentId, filename, contentType, size, sha256, pages, expiresAt }: NewDocument): StoredDocument {
  return { id: documentId, filename, contentType, size, sha256, expiresAt, ...(pages === undefined ? {} : { pages }) }
}

/** What a provider may know of a document. */
export function documentHandleOf ({ id, filename, contentType, size, sha256 }: StoredDocument): DocumentHandle {
  return { id, filename, contentType, size, sha256 }
}

/** Who acts, as the records have it. */
export function userActorOf ({ userId, impersonatorId, key }: Actor): Run['actor'] {
  return {
    kind: 'user',
    userId,
    ...(impersonatorId === undefined ? {} : { impersonatorId }),
    ...(key === undefined ? {} : { keyId: key.id })
  }
}
