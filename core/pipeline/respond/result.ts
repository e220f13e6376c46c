import type { Problem } from '@dispatch/common'
import { type DispatchRequestView, type DispatchStatus, type DispatchView, type EventView, type GeneratedDocument, isDeliveryService,
  isSince, problemIn, refusalOf, reportsDelivery, type StepResult, type VendorCallView, type Version, wordIn } from '@dispatch/contract'
import { timeOf } from '@dispatch/database'
import { type ServiceName, services } from '@dispatch/services'
import type { StepError } from '@dispatch/tables'
import { deferredStateOf } from '../../store/dispatch/deferred-states.ts'
import type { DispatchRecord, EventRow, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import type { ExchangeRow } from '../../store/dispatch/exchanges.ts'
import { listedIn, type Step, stepOf } from '../step.ts'
import { type StoredDocument, storedDocument } from '../stored-document.ts'
import { mergedResponse } from './merged-response.ts'

/** Makes the link by which a document can be downloaded without credentials. */
export type DocumentUrl = (document: StoredDocument) => string

/** The result of a dispatch: of a run that has just ended, or of its record. `finishedAt`: null while it goes on. */
export type RunResult = {
  dispatchId: string
  status: DispatchStatus
  /** Asked for with a test key, or for test environments. */
  test: boolean
  metadata: Readonly<Record<string, string>>
  /** Those of its path, in their order. */
  steps: readonly Step[]
  createdAt: Date
  finishedAt: Date | null
  /** When it is sent, where that is not at once (ISO 8601). */
  sendAt?: string
  /** What its plan warned of; only the answer to the request that began it tells. */
  warnings?: readonly Problem[]
}

/** The result of a recorded dispatch, as far as it has come. */
export function resultOf (record: DispatchRecord): RunResult {
  return {
    dispatchId: record.dispatch_id,
    status: record.status,
    test: record.test,
    metadata: record.metadata,
    steps: record.steps.filter((step) => step.deferred_on === null).map(stepOf),
    createdAt: record.created_at,
    finishedAt: record.finished_at,
    ...optional('sendAt', record.schedule?.dueAt)
  }
}

/** Whether the service itself goes on with a dispatch, or waits for a vendor. */
export function isUnderWay ({ status, steps }: DispatchView): boolean {
  return status === 'queued' || status === 'running' || status === 'uncertain' ||
    steps.some(({ deferredState }) => deferredState === 'waiting' || deferredState === 'running')
}

/** A recorded dispatch as clients of a version read it. */
export function viewOf (record: DispatchRecord, documentUrl: DocumentUrl, version: Version): DispatchView {
  return {
    dispatchId: record.dispatch_id,
    status: record.status,
    ...(record.test ? { test: true as const } : {}),
    services: record.services,
    userId: record.user_id,
    template: usedTemplate(record),
    ...optional('documentType', record.document_type),
    ...optional('documentNumber', record.document_number),
    ...optional('recipient', record.recipient),
    metadata: record.metadata,
    creditsCharged: record.steps.reduce((sum, { charged }) => sum + charged, 0),
    steps: record.steps.map((step) => ({
      service: step.service,
      status: step.status,
      providerName: step.provider_code,
      providerVersion: step.provider_version,
      chosenBy: step.chosen_by,
      ...listedIn(step.providers),
      sandbox: step.sandbox,
      providerResponse: mergedResponse(step),
      generatedDocument: step.document === undefined ? null : generatedDocument(storedDocument(step.document), documentUrl),
      ...services[step.service as ServiceName].measure?.(step.fields, step.made ?? {}),
      creditsCharged: step.charged,
      ...optional('template', usedTemplate(step)),
      ...optional('deferredOn', step.deferred_on),
      ...optional('deferredState', deferredStateOf(step)),
      ...optional('nextTryAt', (step.next_try_at ?? step.remaining.at(-1)?.next_try_at)?.toISOString()),
      ...deliveryOf(step, version),
      ...(step.error === null ? {} : { error: stepError(step.error, version) })
    })),
    requestId: record.request_id,
    ...(isSince('1.1.0', version) ? { ...optional('sendAt', record.schedule?.dueAt), ...optional('schedule', askedIn(record)) } : {}),
    ...optional('nextTryAt', record.next_try_at?.toISOString()),
    createdAt: record.created_at.toISOString(),
    finishedAt: record.finished_at?.toISOString() ?? null
  }
}

function askedIn ({ schedule }: DispatchRecord): DispatchView['schedule'] {
  if (schedule === null) return undefined
  const { dueAt: _, hold: __, ...requested } = schedule
  return requested
}

/** The delivery of a step after its acceptance, where its vendor reports it. */
function deliveryOf ({ service, delivery_status: status, delivery_reason: reason }: StepRecord, version: Version): Pick<
  DispatchView['steps'][number],
  'deliveryStatus' | 'deliveryMessage' | 'deliveryReason'
> {
  return isDeliveryService(service) && reportsDelivery(service, version)
    ? {
      deliveryStatus: status,
      ...optional('deliveryMessage', status === null ? undefined : refusalOf(service, status)),
      ...optional('deliveryReason', reason)
    }
    : {}
}

/** What a dispatch was asked to do; undefined where the data of its request is no longer kept. */
export function requestViewOf (record: DispatchRecord): DispatchRequestView | undefined {
  const { data, steps } = record
  if (data === null) return undefined
  return {
    template: usedTemplate(record),
    data,
    steps: steps.map((step) => ({
      service: step.service,
      fields: step.fields,
      ...optional('template', usedTemplate(step)),
      ...optional('data', step.data),
      ...optional('message', services[step.service as ServiceName].message?.(step.fields, step.made ?? {}))
    }))
  }
}

/** A call of a provider as clients read it; the id begins with its time. */
export function vendorCallOf ({ entry_id: id, service, provider, outcome, exchanges }: ExchangeRow): VendorCallView {
  const at = timeOf(id).toISOString()
  return { id, service, providerName: provider, outcome, exchanges: exchanges.map((exchange) => ({ ...exchange })), at }
}

/** An entry of a timeline as clients of a version read it. */
export function eventViewOf (row: EventRow, services: ReadonlyMap<string, string>, version: Version): EventView {
  const { sendAt: _, ...facts } = row.facts
  return {
    id: row.event_id,
    kind: row.kind,
    ...optional('service', services.get(row.step_id ?? '')),
    actor: { ...row.actor },
    facts: isSince('1.1.0', version) ? row.facts : facts,
    at: row.at.toISOString()
  }
}

/** A stored document as clients read it. */
export function generatedDocument ({ expiresAt, ...document }: StoredDocument, documentUrl: DocumentUrl): GeneratedDocument {
  return { ...document, url: documentUrl({ expiresAt, ...document }), expiresAt: expiresAt.toISOString() }
}

/** Why a step was not done, as clients read it. */
export function stepError ({ word, message, reason, details }: StepError, version: Version): NonNullable<StepResult['error']> {
  return problemIn({
    error: wordIn(word, version),
    message,
    ...optional('reason', reason),
    ...(details === undefined ? {} : { details: [...details] })
  }, version)
}

/** The template of a row: a dispatch's row has that of its first step. */
function usedTemplate ({ template_id: id, template_version: version }: Pick<StepRecord, 'template_id' | 'template_version'>): {
  id: number
  version: number
} | null {
  return id === null || version === null ? null : { id, version }
}

function optional<Name extends string, T> (name: Name, value: T | null | undefined): Partial<Record<Name, T>> {
  return value === null || value === undefined ? {} : { [name]: value } as Record<Name, T>
}
