import { type Actor, type AuditAuthor, maySee, noteAudit, requireRole } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { DispatchError, dueMoment, latestVersion, type Mode, refusal, type SayingBody, type SayingsView, type SayingView, type ScheduleBody,
  type Version } from '@dispatch/contract'
import { findHold } from '@dispatch/credits'
import type { CompanyQueries, Database } from '@dispatch/database'
import { addJobs } from '@dispatch/tables'
import { failedDeferred, retryDeferred, skipWithoutAcceptedSource } from '../../store/dispatch/deferred.ts'
import { type DispatchRecord, findDispatch } from '../../store/dispatch/dispatch-views.ts'
import type { TransactionHook } from '../../store/dispatch/lease.ts'
import { acquireLease, cancelDispatch, moveDispatch, releaseLease, type Replacement } from '../../store/dispatch/runs.ts'
import type { ApprovalDesk } from '../approval-desk.ts'
import { requireApproved, type RowOfBatch } from '../approvals.ts'
import { findExpiring, keepFiles } from '../enclosures.ts'
import type { FileShelf } from '../file-shelf.ts'
import type { PipelineJobs } from '../jobs.ts'
import { timingOf } from '../plan/schedule.ts'
import { resultOf, type RunResult } from '../respond/result.ts'
import type { Leases } from '../run/leases.ts'
import type { RecheckDependencies } from '../run/recheck.ts'
import { type RehydrateDependencies, rehydrateWhatIsKept, userActorOf } from '../run/run.ts'
import type { Resume } from '../run/runner.ts'
import type { SettleDependencies } from '../run/settle.ts'
import { stepOf } from '../step.ts'
import type { AfterwardsDependencies } from './afterwards.ts'
import { type ManualResolution, resolveStep } from './reconcile.ts'
import { isUnfinished, replacementOf } from './replacement.ts'
import { sayingsOf, sayOf } from './sayings.ts'
import { cancelAtVendors } from './vendor-cancellation.ts'

/** A recorded dispatch by its id, who wants something of it, and how that is written into the audit log. */
export type ActionRequest = { actor: Actor, author: AuditAuthor, dispatchId: string }

/** What a person can do with a recorded dispatch. Each action is a line of the audit log. */
export type DispatchActions = {
  /**
   * Lets a dispatch go on at the step that failed, and repeats its deferred steps that failed. The body may correct one of them. Throws
   * `conflict` when nothing has failed, or another run has the dispatch, and `approval_required` when somebody else has to approve it.
   * `batch`: the one that it is a row of.
   */
  retry: (recorded: ActionRequest & { body?: unknown, mode?: Mode, version?: Version, batch?: RowOfBatch }) => Promise<RunResult>
  /**
   * Ends a dispatch of which nothing has begun. Of one that has ended, asks the vendors to cancel what they have accepted. Throws
   * `conflict` when neither is possible, and the error of a vendor that fails. `onlyQueued`: no vendor is asked.
   */
  cancel: (recorded: ActionRequest & { onlyQueued?: true }) => Promise<RunResult>
  /**
   * Says something of an accepted dispatch at its vendor, such as that an invoice is paid. Throws `conflict` where that is not possible,
   * `validation_failed` where it breaks a rule, and the error of a vendor that fails.
   */
  say: (recorded: ActionRequest & { body: SayingBody }) => Promise<SayingView>
  /** What was said of a dispatch, and what may be said of it now. */
  sayings: (record: DispatchRecord) => Promise<SayingsView>
  /** Gives a dispatch that waits for its time another one. Throws `conflict` when it has begun, or waits for no time. */
  move: (recorded: ActionRequest & { requested: ScheduleBody }) => Promise<void>
  /** Sets the outcome of an uncertain step. Throws `forbidden` unless an admin asks. */
  resolve: (recorded: ActionRequest & Found) => Promise<RunResult>
  /** The same for one step of any company. Throws `forbidden` unless an operator asks. */
  resolveHold: (hold: Omit<ActionRequest, 'dispatchId'> & Found & { stepId: string }) => Promise<void>
}

/** What a person has found out about a step in doubt. */
type Found = Pick<ManualResolution, 'outcome' | 'reason'>

type RetryDependencies = RecheckDependencies & { approvals: readonly ApprovalDesk[], jobs: PipelineJobs }
type MoveDependencies = { database: Database, jobs: PipelineJobs, shelves: readonly FileShelf[], now: () => Date }
type ResolveDependencies = RehydrateDependencies & SettleDependencies & { leases: Leases, now: () => Date }

/** What the actions take. */
export type ActionDependencies = RetryDependencies & AfterwardsDependencies & ResolveDependencies

/** `link`: a sample, as long as every document link. */
type Options = { resume: Resume, link: string }

/**
 * What can be done with a dispatch afterwards. Throws `not_found` for what the actor does not see, `validation_failed` for what cannot be;
 * `conflict`, with a reason, where its state forbids it or another run has it.
 */
export function createDispatchActions (dependencies: ActionDependencies, options: Options): DispatchActions {
  return {
    retry: (requested) => retry(dependencies, options, requested),
    cancel: (requested) => cancel(dependencies, requested),
    say: (requested) => say(dependencies, requested),
    sayings: (record) => sayingsOf(dependencies, record),
    move: (requested) => move(dependencies, requested),
    resolve: (requested) => resolve(dependencies, requested),
    resolveHold: (requested) => resolveHold(dependencies, requested)
  }
}

/** The input of an action. */
type ActionInput<Action extends keyof DispatchActions> = Parameters<DispatchActions[Action]>[0]

async function retry (
  dependencies: RetryDependencies,
  { resume, link }: Options,
  { body, mode, version = latestVersion, batch, ...recorded }: ActionInput<'retry'>
): Promise<RunResult> {
  const record = await find(dependencies, recorded)
  const failed = failedDeferred(record)
  const replacement = await replacementOf(dependencies, record, { body, link, actor: recorded.actor, version })
  await requireApproved(dependencies, record, { actor: recorded.actor, batch, replacement })
  const replaced = replacement === undefined ? {} : { replacement }
  const ofDeferred = failed.some(({ step_id: stepId }) => stepId === replacement?.stepId)
  const noted = audited(dependencies, recorded, 'dispatch.retried',
    replacement === undefined ? {} : { replaced: Object.keys(replacement.fields) })
  const also: TransactionHook = async (queries) => {
    await noted(queries)
    await deferAgain(dependencies, queries, recorded, ofDeferred ? replaced : {})
  }
  if (!isUnfinished(record)) return deferAgainAlone(dependencies, record, also)
  const result = await resume(record, { actor: recorded.actor, mode, also, ...(ofDeferred ? {} : replaced) })
  if (result === undefined) {
    throw new DispatchError('conflict', 'The dispatch is running again already: read what becomes of it.', {
      reason: 'being_done',
      dispatchId: recorded.dispatchId
    })
  }
  return result
}

/** Queues the deferred steps that failed once more. */
async function deferAgain (
  { database, jobs }: { database: Database, jobs: PipelineJobs },
  queries: CompanyQueries,
  { actor, dispatchId }: ActionRequest,
  replaced: { replacement?: Replacement }
): Promise<void> {
  const { companyId } = actor
  const stepIds = await retryDeferred(queries, { companyId, dispatchId, actor: userActorOf(actor), ...replaced }, database.now)
  await addJobs(queries, ...stepIds.map((stepId) => jobs.deferred({ companyId, dispatchId }, { stepId })))
}

/** No client waits for deferred steps: the answer is that of a queued dispatch. */
async function deferAgainAlone (
  { database }: { database: Database },
  record: DispatchRecord,
  also: TransactionHook
): Promise<RunResult> {
  await database.company(record.company_id, async (queries) => also(queries))
  return { ...resultOf(record), status: 'queued', finishedAt: null }
}

async function cancel (dependencies: AfterwardsDependencies, { onlyQueued, ...recorded }: ActionInput<'cancel'>): Promise<RunResult> {
  const { database, outbox } = dependencies
  const record = await find(dependencies, recorded)
  const { company_id: companyId, dispatch_id: dispatchId } = record
  const actor = userActorOf(recorded.actor)
  if (onlyQueued !== true && (record.status === 'succeeded' || record.status === 'partial')) {
    await cancelAtVendors(dependencies, record, { actor, audited: audited(dependencies, recorded, 'dispatch.cancel_requested') })
    return resultOf(await find(dependencies, recorded))
  }
  const noted = audited(dependencies, recorded, 'dispatch.cancelled')
  const also: TransactionHook = async (queries) => {
    await noted(queries)
    await skipWithoutAcceptedSource(queries, { companyId, dispatchId }, database.now)
    await outbox.enqueue(queries, { companyId, dispatchId }, 'dispatch.cancelled')
  }
  if (!await cancelDispatch(database, { companyId, dispatchId, actor, also })) {
    // It may have begun since it was read. One that is queued to go on has begun too.
    const { status } = await find(dependencies, recorded)
    throw new DispatchError('conflict',
      `The dispatch ${status === 'queued' ? 'has begun' : `is ${status}`}: only one of which nothing has begun can be cancelled.`, {
      reason: 'state_forbids',
      dispatchId
    })
  }
  return resultOf(await find(dependencies, recorded))
}

async function say (dependencies: AfterwardsDependencies, { body, ...recorded }: ActionInput<'say'>): Promise<SayingView> {
  return sayOf(dependencies, await find(dependencies, recorded), {
    body,
    actor: userActorOf(recorded.actor),
    audited: audited(dependencies, recorded, 'dispatch.status_said', { code: body.code })
  })
}

async function move (dependencies: MoveDependencies, { requested, ...recorded }: ActionInput<'move'>): Promise<void> {
  const { database, jobs, shelves } = dependencies
  const { company_id: companyId, dispatch_id: dispatchId, schedule: before, steps } = await find(dependencies, recorded)
  const path = steps.filter((step) => step.deferred_on === null).map(stepOf)
  const now = await database.time()
  const { schedule: timed, problems } = timingOf(requested, path, now)
  if (problems.length > 0) throw refusal('validation_failed', problems)
  const schedule = { ...requested, dueAt: timed?.dueAt ?? now.toISOString() }
  const at = dueMoment(schedule.dueAt)
  const expiring = await findExpiring(dependencies, companyId, steps.map(stepOf), at)
  if (expiring.length > 0) throw refusal('validation_failed', expiring)
  await keepFiles(shelves, companyId, steps.map(stepOf), at)
  const moved = await moveDispatch(database, {
    companyId,
    dispatchId,
    actor: userActorOf(recorded.actor),
    schedule: before?.hold === undefined ? schedule : { ...schedule, hold: before.hold },
    jobs: jobs.scheduled({ companyId, dispatchId }, schedule.dueAt),
    also: audited(dependencies, recorded, 'dispatch.moved', { sendAt: schedule.dueAt })
  })
  if (!moved) {
    throw new DispatchError('conflict', 'The dispatch does not wait for its time: only one of which nothing has begun can be moved.', {
      reason: 'state_forbids',
      dispatchId
    })
  }
}

async function resolve (dependencies: ResolveDependencies, { outcome, reason, ...recorded }: ActionInput<'resolve'>): Promise<RunResult> {
  requireRole(recorded.actor, 'admin')
  const record = await find(dependencies, recorded)
  await resolveRecord(dependencies, record, recorded, { outcome, reason })
  return resultOf(await find(dependencies, recorded))
}

async function resolveHold (
  dependencies: ResolveDependencies,
  { stepId, outcome, reason, ...requested }: ActionInput<'resolveHold'>
): Promise<void> {
  const { database } = dependencies
  requireRole(requested.actor, 'operator')
  const { companyId, dispatchId } = await findHold(database, stepId) ?? {}
  const record = companyId === undefined || dispatchId === undefined ? undefined : await findDispatch(database, companyId, dispatchId)
  if (record === undefined) throw new DispatchError('not_found', `There is no step "${stepId}": GET /api/v1/queue/holds lists them.`)
  await resolveRecord(dependencies, record, requested, { stepId, outcome, reason })
}

/** Sets the outcome of a step in doubt under a lease; the audit log of its company says who did. */
async function resolveRecord (
  dependencies: ResolveDependencies,
  record: DispatchRecord,
  { actor, author }: Omit<ActionRequest, 'dispatchId'>,
  { stepId, outcome, reason }: Found & { stepId?: string }
): Promise<void> {
  const { database, leases } = dependencies
  const { company_id: companyId, dispatch_id: dispatchId } = record
  const noted = audited(dependencies, { author, dispatchId, companyId }, 'dispatch.resolved', { outcome, reason })
  await leases.withLease(async (lease) => {
    const taken = await acquireLease(database, { companyId, dispatchId }, { lease, from: [record.status] })
    if (taken === undefined) {
      throw new DispatchError('conflict', 'Another run has the dispatch: try again in a moment.', { reason: 'being_done', dispatchId })
    }
    try {
      const run = await rehydrateWhatIsKept(dependencies, taken, lease.runId)
      await resolveStep(dependencies, run, { stepId, outcome, reason, from: taken.status, actor: userActorOf(actor), noted })
    } finally {
      await releaseLease(database, { companyId, dispatchId }, lease.runId)
    }
  })
}

/** The dispatch that an action is about. Throws `not_found` for one that the actor does not see. */
async function find (
  { database }: { database: Database },
  { actor, dispatchId }: Omit<ActionRequest, 'author'>
): Promise<DispatchRecord> {
  const record = await findDispatch(database, actor.companyId, dispatchId)
  if (record === undefined || !maySee(actor, record)) {
    throw new DispatchError('not_found', 'There is no such dispatch: GET /api/v1/dispatches lists those of your company.')
  }
  return record
}

/** Writes the action into the audit log. */
function audited (
  { now }: { now: () => Date },
  { author, dispatchId, companyId = author.companyId }: Omit<ActionRequest, 'actor'> & { companyId?: number },
  action: string,
  facts: JsonObject = {}
): TransactionHook {
  return (queries) => noteAudit(queries, { companyId, author, action, object: { kind: 'dispatch', id: dispatchId }, facts, at: now() })
}
