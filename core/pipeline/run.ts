import type { DocumentHandle } from '../contract/common.ts'
import type { JsonObject } from '../contract/json.ts'
import type { Installed } from '../host/load.ts'
import type { ServiceName } from '../services/index.ts'
import type { DispatchRecord, StepRecord } from '../store/dispatch-views.ts'
import type { NewDispatch } from '../store/dispatches.ts'
import type { EventActor } from '../store/schema.ts'
import type { StoredTemplate } from '../store/templates.ts'
import type { Plan } from './plan.ts'

/** A recorded dispatch under way: what every stage after the check works on, whether it begins or goes on. */
export type Run = {
  dispatchId: string
  companyId: number
  /** Who began it: their configuration holds, whoever lets it go on. */
  actor: Extract<EventActor, { kind: 'user' }>
  template: StoredTemplate
  data: JsonObject
  metadata: Readonly<Record<string, string>>
  /** What names the document, if the data has it. */
  documentNumber?: string
  createdAt: Date
  steps: readonly RunStep[]
}

/** `document` is there once it has been made: it is never made again. */
export type RunStep = {
  stepId: string
  service: ServiceName
  fields: JsonObject
  provider: Installed
  requestSettings: JsonObject
  configuredBy: 'user' | 'company'
  sandbox: boolean
  document?: StoredDocument
}

export type StoredDocument = DocumentHandle & { pages?: number, expiresAt: Date }

/** The run of a new dispatch, and the record that goes before it. */
export function beginRun (plan: Plan, { companyId, actor, requestId, newId, now }: { companyId: number, actor: Run['actor'], requestId: string, newId: () => string, now: Date }): { run: Run, record: NewDispatch } {
  const { request, template, facts } = plan
  if (request.template === undefined || template === undefined) throw new Error('Only what has a template can be run.')
  const steps = plan.steps.map(({ by, ...step }) => {
    if (by === undefined) throw new Error('Only what has a provider can be run.')
    return { ...step, ...by, stepId: newId(), requestSettings: request.settings }
  })
  const shared = { dispatchId: newId(), companyId, actor, data: request.template.data, metadata: request.metadata }
  return {
    run: { ...shared, template, createdAt: now, steps, ...(facts.documentNumber === undefined ? {} : { documentNumber: facts.documentNumber }) },
    record: {
      ...shared,
      ...facts,
      requestId,
      template: { id: template.id, version: template.version },
      steps: steps.map(({ provider, ...step }) => ({ ...step, providerCode: provider.code, providerVersion: provider.version }))
    }
  }
}

/** The run of a recorded dispatch that goes on, with the installed providers of its steps. */
export function resumeRun (record: DispatchRecord, { template, data, providerOf }: { template: StoredTemplate, data: JsonObject, providerOf: (step: StepRecord) => Installed }): Run {
  return {
    dispatchId: record.dispatch_id,
    companyId: record.company_id,
    actor: { kind: 'user', userId: record.user_id, ...(record.impersonator_id === null ? {} : { impersonatorId: record.impersonator_id }) },
    template,
    data,
    metadata: record.metadata,
    createdAt: record.created_at,
    ...(record.document_number === null ? {} : { documentNumber: record.document_number }),
    steps: record.steps.filter((step) => step.status !== 'accepted').map((step) => ({
      stepId: step.step_id,
      service: step.service as ServiceName,
      fields: step.fields,
      provider: providerOf(step),
      requestSettings: step.request_settings,
      configuredBy: step.configured_by,
      sandbox: step.sandbox,
      ...(step.document === undefined ? {} : { document: storedDocument(step.document) })
    }))
  }
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
