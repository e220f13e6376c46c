import type { DocumentHandle } from '../contract/common.ts'
import type { JsonObject } from '../contract/json.ts'
import type { Installed } from '../host/load.ts'
import type { ServiceName } from '../services/index.ts'
import type { DispatchRecord, StepRecord } from '../store/dispatch-views.ts'
import type { NewDispatch, NewDocument } from '../store/dispatches.ts'
import type { EventActor } from '../store/schema.ts'
import type { StoredTemplate } from '../store/templates.ts'
import type { Plan, TemplateContent } from './plan.ts'

/** A recorded dispatch under way: what every stage after the check works on, whether it begins or goes on. */
export type Run = {
  dispatchId: string
  companyId: number
  /** Who began it: their configuration holds, whoever lets it go on. */
  actor: Extract<EventActor, { kind: 'user' }>
  metadata: Readonly<Record<string, string>>
  /** What names the document, if the data has it. */
  documentNumber?: string
  createdAt: Date
  steps: readonly RunStep[]
}

/** `content`: what was made for it before, which is never made again. */
export type RunStep = {
  stepId: string
  service: ServiceName
  fields: JsonObject
  requestSettings: JsonObject
  /** What is made for it. */
  template?: TemplateContent
  /** Not of a service that is done here. */
  by?: { provider: Installed, configuredBy: 'user' | 'company', sandbox: boolean }
  content: StoredContent
}

/** A step that a provider does. */
export type ProviderStep = RunStep & Required<Pick<RunStep, 'by'>>

/** What was made of a step's template or came with the request: a document, and whatever else there is, as plain data. */
export type StoredContent = { document?: StoredDocument, made?: JsonObject }

export type StoredDocument = DocumentHandle & { pages?: number, expiresAt: Date }

/** Who begins a dispatch, and under which request. `file`: what came with it. */
export type Beginning = { companyId: number, actor: Run['actor'], requestId: string, newId: () => string, now: Date, file?: NewDocument }

/** The run of a new dispatch, and the record that goes before it. */
export function beginRun ({ request, facts, ...plan }: Plan, { companyId, actor, requestId, newId, now, file }: Beginning): { run: Run, record: NewDispatch } {
  const steps = plan.steps.map(({ content, ...step }) => ({ ...step, stepId: newId(), sandbox: step.by?.sandbox ?? false, ...(content === undefined ? {} : { template: content }) }))
  const shared = { dispatchId: newId(), companyId, actor, metadata: request.metadata }
  const template = steps[0]?.template
  return {
    run: {
      ...shared,
      ...(facts.documentNumber === undefined ? {} : { documentNumber: facts.documentNumber }),
      createdAt: now,
      steps: steps.map((step, index) => ({ ...step, content: file !== undefined && index === 0 ? { document: handleOf(file) } : {} }))
    },
    record: {
      ...shared,
      ...facts,
      requestId,
      data: template?.data ?? {},
      ...(template === undefined ? {} : { template: { id: template.template.id, version: template.template.version } }),
      ...(request.callbackUrl === undefined ? {} : { callbackUrl: request.callbackUrl }),
      ...(file === undefined ? {} : { document: file }),
      steps: steps.map(({ by, ...step }) => ({ ...step, ...(by === undefined ? {} : { by: { ...by, providerCode: by.provider.code, providerVersion: by.provider.version } }) }))
    }
  }
}

/** The run of a recorded dispatch that goes on, with the installed providers of its steps. */
export function resumeRun (record: DispatchRecord, { template, data, providerOf }: { template: StoredTemplate | undefined, data: JsonObject, providerOf: (step: StepRecord) => Installed | undefined }): Run {
  return {
    dispatchId: record.dispatch_id,
    companyId: record.company_id,
    actor: { kind: 'user', userId: record.user_id, ...(record.impersonator_id === null ? {} : { impersonatorId: record.impersonator_id }) },
    metadata: record.metadata,
    createdAt: record.created_at,
    ...(record.document_number === null ? {} : { documentNumber: record.document_number }),
    steps: record.steps.filter((step) => step.status !== 'accepted').map((step) => ({
      stepId: step.step_id,
      service: step.service as ServiceName,
      fields: step.fields,
      requestSettings: step.request_settings,
      ...(template === undefined || step.position > 0 ? {} : { template: { template, data } }),
      ...byOf(step, providerOf(step)),
      content: { ...(step.document === undefined ? {} : { document: storedDocument(step.document) }), ...(step.made === null ? {} : { made: step.made }) }
    }))
  }
}

function byOf ({ configured_by: configuredBy, sandbox }: StepRecord, provider: Installed | undefined): Pick<RunStep, 'by'> {
  return provider === undefined || configuredBy === null ? {} : { by: { provider, configuredBy, sandbox } }
}

/** A document that was just made or received, as the store will tell of it. */
export function handleOf ({ documentId, filename, contentType, size, sha256, pages, expiresAt }: NewDocument): StoredDocument {
  return { id: documentId, filename, contentType, size, sha256, expiresAt, ...(pages === undefined ? {} : { pages }) }
}

/** A stored document as its handle. */
export function storedDocument (row: NonNullable<StepRecord['document']>): StoredDocument {
  return {
    id: row.document_id,
    filename: row.filename,
    contentType: row.content_type,
    size: Number(row.size),
    sha256: row.sha256,
    expiresAt: row.expires_at,
    ...(row.pages === null ? {} : { pages: row.pages })
  }
}
