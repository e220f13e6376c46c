import type { JsonObject } from '@dispatch/common'
import { type ChosenBy, type ConfiguredBy, DispatchError, type Version } from '@dispatch/contract'
import { heldAtFirst, shortOf, withCreditCheck } from '@dispatch/credits'
import { type Database, hasCode } from '@dispatch/database'
import { type EventActor, type Schedule, sealed, type StepCandidate } from '@dispatch/tables'
import { callFunction } from '../calls/database-functions.ts'
import { documentRow, type NewDocument } from '../calls/document-row.ts'
import type { DispatchStart } from './lease.ts'
import { callingEvent } from './steps.ts'

/** A dispatch to record, with its steps in their order. */
export type NewDispatch = {
  dispatchId: string
  companyId: number
  actor: Extract<EventActor, { kind: 'user' }>
  requestId: string
  /** The version of the API that asked for it; without one, the usual version. */
  apiVersion?: Version
  /** The trace of the request (W3C Trace Context), where it is traced. */
  traceparent?: string
  /** The services of the path, in their order. */
  services: readonly string[]
  metadata: Readonly<Record<string, string>>
  documentType?: string
  documentNumber?: string
  recipient?: string
  callbackUrl?: string
  /** Requested with a test key, or for test environments. */
  test?: boolean
  /** When it is sent, where that is not at any time. The price of one that waits is held then, unless the schedule says `now`. */
  schedule?: Schedule
  /** The batch of which it is a row. */
  batchId?: string
  /** The file that came with the request, for the first step. */
  document?: NewDocument
  steps: readonly NewStep[]
  idempotency?: { key: string, fingerprint: string }
  /** The first attempt at its first step, where nothing lies between: it begins with the dispatch. */
  attempt?: { stepId: string, provider: { code: string, version: string } }
}

/** What is recorded of a step of the pipeline, which is one of these. `price` in credits. */
export type NewStep = {
  stepId: string
  service: string
  /** Undefined for a service that needs no provider. */
  by?: {
    code: string
    version: string
    chosenBy: ChosenBy
    configuredBy: ConfiguredBy
    sandbox: boolean
    /** All that can do it, in the order in which they are tried. */
    list?: readonly StepCandidate[]
  }
  fields: JsonObject
  requestSettings: JsonObject
  /** The template and the data of the document to make. */
  template?: { template: { id: number, version: number, brand?: { version: number } }, data: JsonObject }
  price: number
  /** The event of its dispatch that it waits for, such as `esign.completed`. */
  deferredOn?: string
}

/** The company has another dispatch with the same idempotency key. */
export class IdempotencyKeyTaken extends Error {
  override name = 'IdempotencyKeyTaken'
}

/**
 * Records a dispatch, holds the prices of its steps (deferred and scheduled ones hold nothing yet) and binds its idempotency key, in one
 * transaction. Answers when, by the clock of the database. On `insufficient_credits`, {@link IdempotencyKeyTaken}, and `forbidden`
 * for a company that is being deleted, nothing is recorded.
 */
export async function openDispatch (database: Database, dispatch: NewDispatch, beginning: DispatchStart): Promise<Date> {
  const { companyId, idempotency } = dispatch
  const given = { ...await sealedRows(database, dispatchRows(dispatch)), ...startOf(beginning) }
  const opening = withCreditCheck(database, given, () => callFunction(database, 'open_dispatch', given))
  const opened = await opening.catch((error: unknown) => {
    if (hasCode(error, 'DC410')) throw new DispatchError('forbidden', 'The company is being deleted: nothing is sent for it any more.')
    throw hasCode(error, 'DC409') ? new IdempotencyKeyTaken(idempotency?.key) : error
  })
  if (opened.answer === 'short') throw await shortOf(database, companyId, given.price)
  return opened.at
}

/** The same rows, with what the client has written as it is stored. */
async function sealedRows<Rows extends ReturnType<typeof dispatchRows>> ({ owner }: Database, { dispatch, steps, ...rows }: Rows) {
  const { company_id: companyId } = rows
  return {
    ...rows,
    dispatch: { ...dispatch, data: await sealed(owner, companyId, dispatch.data) },
    steps: await Promise.all(steps.map(async (step) => ({
      ...step,
      fields: await sealed(owner, companyId, step.fields),
      request_settings: await sealed(owner, companyId, step.request_settings),
      data: step.data && await sealed(owner, companyId, step.data)
    })))
  }
}

function startOf (beginning: DispatchStart) {
  const lease = 'lease' in beginning ? beginning.lease : undefined
  return { run_id: lease?.runId, lease_seconds: lease?.seconds, jobs: 'jobs' in beginning ? beginning.jobs : [] }
}

/** The rows of a dispatch. The template of its first step stands in the row of the dispatch. */
function dispatchRows ({ dispatchId, companyId, actor, document, idempotency, attempt, ...dispatch }: NewDispatch) {
  const { price, steps } = stepRows(dispatch, document)
  const content = dispatch.steps[0]?.template
  const facts = {
    price: dispatch.steps.reduce((sum, step) => sum + (step.deferredOn === undefined ? step.price : 0), 0),
    ...(content === undefined ? {} : { template: { id: content.template.id, version: content.template.version } }),
    ...(dispatch.schedule?.dueAt === undefined ? {} : { sendAt: dispatch.schedule.dueAt })
  }
  return {
    dispatch_id: dispatchId,
    company_id: companyId,
    dispatch: {
      user_id: actor.userId,
      impersonator_id: actor.impersonatorId,
      services: dispatch.services,
      template_id: content?.template.id,
      template_version: content?.template.version,
      brand_version: content?.template.brand?.version,
      data: content?.data ?? {},
      metadata: dispatch.metadata,
      document_type: dispatch.documentType,
      document_number: dispatch.documentNumber,
      recipient: dispatch.recipient,
      callback_url: dispatch.callbackUrl,
      request_id: dispatch.requestId,
      api_version: dispatch.apiVersion,
      test: dispatch.test ?? false,
      schedule: dispatch.schedule,
      due_at: dispatch.schedule?.dueAt,
      in_batch: dispatch.batchId
    },
    steps: steps.map((step) => step.step_id === attempt?.stepId ? { ...step, status: 'calling' as const } : step),
    documents: document === undefined ? [] : [documentRow(document)],
    events: [{ kind: 'planned' as const, actor, facts }, ...attempt === undefined ? [] : [beginningEvent(attempt)]],
    attempt: attempt && { step_id: attempt.stepId, provider_version: attempt.provider.version },
    price,
    idempotency_key: idempotency?.key,
    fingerprint: idempotency?.fingerprint
  }
}

function beginningEvent ({ stepId, provider }: Required<NewDispatch>['attempt']) {
  return { step_id: stepId, actor: { kind: 'system' as const }, ...callingEvent(provider) }
}

/** The rows of steps, and what is held for them at once, in credits. */
function stepRows (
  { steps, traceparent, schedule }: Pick<NewDispatch, 'steps' | 'traceparent' | 'schedule'>,
  document: NewDocument | undefined
) {
  const rows = steps.map((step, position) => {
    const content = position === 0 ? undefined : step.template
    return {
      step_id: step.stepId,
      position,
      service: step.service,
      provider_code: step.by?.code,
      provider_version: step.by?.version,
      chosen_by: step.by?.chosenBy,
      configured_by: step.by?.configuredBy,
      sandbox: step.by?.sandbox ?? false,
      fields: step.fields,
      request_settings: step.requestSettings,
      price: step.price,
      held: heldAtFirst(step, schedule),
      status: step.deferredOn === undefined ? 'planned' as const : 'waiting' as const,
      document_id: position === 0 ? document?.documentId : undefined,
      template_id: content?.template.id,
      template_version: content?.template.version,
      brand_version: content?.template.brand?.version,
      data: content?.data,
      deferred_on: step.deferredOn,
      providers: step.by?.list,
      traceparent: position === 0 ? traceparent : undefined
    }
  })
  return { steps: rows, price: rows.reduce((sum, { held }) => sum + held, 0) }
}
