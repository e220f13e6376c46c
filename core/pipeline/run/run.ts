import type { Actor } from '@dispatch/accounts'
import type { Keyring } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import type { Host } from '@dispatch/host'
import type { EventActor, Schedule } from '@dispatch/tables'
import type { Configurations } from '../../store/configuration/configurations.ts'
import { type DispatchRecord, findDispatch, type StepRecord } from '../../store/dispatch/dispatch-views.ts'
import type { NewDispatch } from '../../store/dispatch/dispatches.ts'
import type { DispatchCommand } from '../command.ts'
import type { DispatchPlan } from '../plan/plan.ts'
import { mergedResponse, waitingIn } from '../respond/merged-response.ts'
import { isOffPath, stateOf, type Step, stepOf } from '../step.ts'
import { storedDocumentOfNew } from '../stored-document.ts'
import type { Templates } from '../templates.ts'
import { installedFor } from './installed.ts'

/** What it takes to read the steps of a recorded dispatch. */
export type RehydrateDependencies = { configurations: Configurations, templates: Templates, host: Host, keyring: Keyring }

/** A recorded dispatch under way: a new one, or one that goes on. Every stage after the plan works on it. */
export type Run = {
  /** The id of the lease under which it runs. */
  runId: string
  dispatchId: string
  companyId: number
  /** Who began it. Their configuration is used, even when somebody else lets it go on. */
  actor: Extract<EventActor, { kind: 'user' }>
  metadata: Readonly<Record<string, string>>
  /** The trace of the request that asked for it (W3C Trace Context). */
  traceparent?: string
  /** The number of the document, if the data has one. */
  documentNumber?: string
  callbackUrl?: string
  /** When it may be sent, where that is not at any time. */
  schedule?: Schedule
  /** Asked for with a test key, or for test environments. */
  test: boolean
  /** No client waits for its end (any more). */
  detached: boolean
  /** By the clock of the database. */
  createdAt: Date
  /** Those of its path, in their order, as far as they have come. */
  steps: readonly Step[]
  /** Steps beside the path: deferred ones, and those that send to recipients that an earlier call left. */
  deferred: readonly Step[]
  /** The step whose first attempt was recorded with the dispatch, until it is taken up. */
  attempted?: string
  /** Called when a vendor keeps it waiting: it needs nothing of this machine meanwhile. */
  keptWaiting?: () => void
}

/** Replaces a step by its new state. */
export function advance (run: Run, step: Step): void {
  const replaced = (one: Step): Step => one.stepId === step.stepId ? step : one
  run.steps = run.steps.map(replaced)
  run.deferred = run.deferred.map(replaced)
}

/** A dispatch that is recorded for the first time: the store takes its steps as they are. */
export type PlannedDispatch = Omit<NewDispatch, 'steps'> & { test: boolean, steps: readonly Step[] }

/** The record of a command of which nothing is done yet. */
export function plannedDispatch (
  { request: { services, metadata, callbackUrl }, facts, schedule, test, steps, deferred }: DispatchPlan,
  { actor, requestId, version, traceparent, file, batchId }: DispatchCommand,
  { dispatchId, ...idempotency }: Pick<NewDispatch, 'dispatchId' | 'idempotency'>
): PlannedDispatch {
  const given = file === undefined ? {} : { content: { document: storedDocumentOfNew(file.document) } }
  return {
    dispatchId,
    companyId: actor.companyId,
    actor: userActorOf(actor),
    requestId,
    ...(version === undefined ? {} : { apiVersion: version }),
    ...(traceparent === undefined ? {} : { traceparent }),
    services,
    metadata,
    ...facts,
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(batchId === undefined ? {} : { batchId }),
    test,
    ...(file === undefined ? {} : { document: file.document }),
    steps: [...steps.map((step, index) => index === 0 ? { ...step, ...given } : step), ...deferred],
    ...idempotency
  }
}

/** The run of a dispatch that has just been recorded, for a client that waits. */
export function beginRun (
  { dispatchId, companyId, actor, metadata, traceparent, test, callbackUrl, schedule, documentNumber, steps, attempt }: PlannedDispatch,
  { runId, createdAt }: Pick<Run, 'runId' | 'createdAt'>
): Run {
  return {
    runId,
    dispatchId,
    companyId,
    actor,
    metadata,
    ...(traceparent === undefined ? {} : { traceparent }),
    test,
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
    ...(schedule === undefined ? {} : { schedule }),
    ...(documentNumber === undefined ? {} : { documentNumber }),
    detached: false,
    createdAt,
    steps: steps.filter((step) => !isOffPath(step)),
    deferred: steps.filter(isOffPath),
    ...(attempt === undefined ? {} : { attempted: attempt.stepId })
  }
}

/** Answers whether the attempt at a step is recorded already, which is true once. */
export function takeAttempted (run: Run, stepId: string): boolean {
  if (run.attempted !== stepId) return false
  delete run.attempted
  return true
}

/** The run of a recorded dispatch under a lease that was taken. Undefined when its data are no longer kept. */
export async function rehydrateRun (
  dependencies: RehydrateDependencies & { database: Database },
  companyId: number,
  dispatchId: string,
  runId: string
): Promise<Run | undefined> {
  const record = await findDispatch(dependencies.database, companyId, dispatchId)
  return record && rehydrateRecord(dependencies, record, runId)
}

/** The run of a record, as {@link rehydrateRun}. */
export async function rehydrateRecord (
  dependencies: RehydrateDependencies,
  record: DispatchRecord,
  runId: string
): Promise<Run | undefined> {
  return record.data === null ? undefined : rehydrateWhatIsKept(dependencies, record, runId)
}

/** The run, even when its data are no longer kept: enough to record the outcome of a step. */
export async function rehydrateWhatIsKept (dependencies: RehydrateDependencies, record: DispatchRecord, runId: string): Promise<Run> {
  const all: Step[] = []
  for (const row of record.steps) all.push(await rehydrateStep(dependencies, record, row))
  return {
    runId,
    dispatchId: record.dispatch_id,
    companyId: record.company_id,
    actor: { kind: 'user', userId: record.user_id, ...(record.impersonator_id === null ? {} : { impersonatorId: record.impersonator_id }) },
    metadata: record.metadata,
    ...traceOf(record),
    ...(record.callback_url === null ? {} : { callbackUrl: record.callback_url }),
    ...(record.schedule === null ? {} : { schedule: record.schedule }),
    test: record.test,
    detached: record.detached,
    createdAt: record.created_at,
    ...(record.document_number === null ? {} : { documentNumber: record.document_number }),
    steps: all.filter((step) => step.deferredOn === undefined),
    deferred: [...all.filter((step) => step.deferredOn !== undefined), ...record.steps.flatMap((row, index) => restIn(row, all[index]))]
  }
}

/** Its trace stands with the first step. */
function traceOf ({ steps: [first] }: DispatchRecord): Pick<Run, 'traceparent'> {
  return typeof first?.traceparent === 'string' ? { traceparent: first.traceparent } : {}
}

/** A recorded step with its provider as it is installed now, and its template. The first step's template stands in the dispatch's row. */
async function rehydrateStep (dependencies: RehydrateDependencies, record: DispatchRecord, row: StepRecord): Promise<Step> {
  const step = stepOf(row)
  const { template_id: id, template_version: version, brand_version: brand, data } = row.position === 0 ? record : row
  const template = id === null || version === null
    ? undefined
    : await dependencies.templates.findVersion(record.company_id, id, version, brand)
  const by = step.by &&
    await installedFor(dependencies, { companyId: record.company_id, userId: record.user_id }, step.service, step.by)
  return {
    ...step,
    ...(template === undefined ? {} : { template: { template, data: data ?? {} } }),
    ...(by === undefined ? {} : { by })
  }
}

/** The step for the remaining recipients of a step: the last of its rests, unless that has ended. */
function restIn ({ remaining, ...row }: StepRecord, of: Step | undefined): Step[] {
  const last = remaining.at(-1)
  const answer = mergedResponse({ ...row, remaining: remaining.slice(0, -1) })
  if (of === undefined || last === undefined || answer === null ||
    (last.next_try_at === null && !['calling', 'uncertain'].includes(last.status))) return []
  return [{
    ...of,
    stepId: last.step_id,
    price: 0,
    ...(of.by === undefined || last.provider_version === null ? {} : { by: { ...of.by, version: last.provider_version } }),
    state: stateOf({ ...last, document: undefined, remaining: [] }),
    rest: { of: of.stepId, answer, recipients: waitingIn(answer).map(({ address }) => address) }
  }]
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
