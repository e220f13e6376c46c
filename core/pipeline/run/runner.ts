import { withTimeLimit } from '@dispatch/common'
import type { DispatchRecord } from '../../store/dispatch/dispatch-views.ts'
import { openDispatch } from '../../store/dispatch/dispatches.ts'
import type { DispatchStart } from '../../store/dispatch/lease.ts'
import { acquireLease, detachDispatch, resumeDispatch } from '../../store/dispatch/runs.ts'
import type { DispatchCommand } from '../command.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import type { DispatchPlan } from '../plan/plan.ts'
import type { Resume } from '../recover/operator-actions.ts'
import type { IdempotencyKey } from '../respond/idempotency.ts'
import { type DispatchResult, resultOf } from '../respond/result.ts'
import { createInFlight, type InFlight } from './in-flight.ts'
import type { KeepLease } from './leases.ts'
import { elsewhere, leftToAnother, recordingUnknown, untilRecorded } from './recording.ts'
import { rehydrateRecord, rehydrateRun } from './rehydrate.ts'
import { beginRun, type Run, userActorOf } from './run.ts'
import { enqueueEndCallback } from './settle.ts'
import { runSteps } from './steps.ts'

/** `begun` is called once the dispatch is recorded, or may be. */
type Opening = { begun: () => void, idempotency?: IdempotencyKey }

/** Records dispatches, and runs them: at once for whoever waits, by the queue for the others. */
export type Runner = {
  /** Begins a dispatch that was planned. */
  begin: (command: DispatchCommand, plan: DispatchPlan, opening: Opening) => Promise<DispatchResult>
  resume: Resume
  /** Runs a dispatch that waits, if it still does. `begun` is called once it is taken: if it does not end here, its lease does. */
  runQueued: (dispatch: Pick<Run, 'companyId' | 'dispatchId'>, begun?: () => void) => Promise<void>
  /** Resolves when no dispatch is under way in this process. */
  drain: () => Promise<void>
}

/** Milliseconds that a client waits for a dispatch to be recorded that is run by the queue. */
const intakeLimit = 5_000

/** `limit`: seconds that a client waits for the end of a dispatch. */
export function createRunner (parts: PipelineDependencies, { limit }: { limit: number }): Runner {
  const inFlight = createInFlight({ limit, log: parts.log })
  const finish = (run: Run, hold: KeepLease): Promise<DispatchResult> => finishRun(parts, inFlight, run, hold)
  return {
    begin: (command, plan, opening) =>
      command.mode === 'asynchronous' ? beginQueued(parts, command, plan, opening) : beginNow(parts, finish, command, plan, opening),

    resume: (record, how) => how.mode === 'asynchronous' ? resumeQueued(parts, record, how) : resumeNow(parts, finish, record, how),

    runQueued: (dispatch, begun) => inFlight.follow(runTaken(parts, dispatch, begun), dispatch.dispatchId),

    drain: inFlight.drain
  }
}

type ResumeOptions = Parameters<Resume>[1]
type Finish = (run: Run, hold: KeepLease) => Promise<DispatchResult>

/** Runs the steps, and waits for their end as long as a client may: who waits too long reads later what came of it, and is called back. */
async function finishRun (parts: PipelineDependencies, inFlight: InFlight, run: Run, hold: KeepLease): Promise<DispatchResult> {
  const ended = hold(runSteps(parts, run)).catch((error: unknown) => leftToAnother(run, error))
  return inFlight.within(ended, run.dispatchId, async () => {
    run.detached = true
    await detachDispatch(parts.database, run, {
      runId: run.runId,
      tell: (queries, status) => enqueueEndCallback(parts, run, status)(queries)
    })
  })
}

/** What a dispatch is begun with. */
function beginnerOf ({ newId, now }: PipelineDependencies, { actor, requestId, file }: DispatchCommand) {
  const document = file === undefined ? {} : { file: file.document }
  return { companyId: actor.companyId, actor: userActorOf(actor), requestId, newId, now: now(), ...document }
}

async function beginQueued (
  parts: PipelineDependencies,
  command: DispatchCommand,
  plan: DispatchPlan,
  { begun, ...keyed }: Opening
): Promise<DispatchResult> {
  const { run, record } = beginRun(plan, { ...beginnerOf(parts, command), runId: '', detached: true })
  const opened = openDispatch(parts.database, { ...record, ...keyed }, { jobs: [parts.jobs.dispatch(run)] })
  await untilRecorded(run, withTimeLimit(intakeLimit, opened, () => recordingUnknown(run)), begun)
  return waiting(run)
}

async function beginNow (
  parts: PipelineDependencies,
  finish: Finish,
  command: DispatchCommand,
  plan: DispatchPlan,
  { begun, ...keyed }: Opening
): Promise<DispatchResult> {
  const beginner = beginnerOf(parts, command)
  return parts.leases.withLease(async (lease, hold) => {
    const { run, record } = beginRun(plan, { ...beginner, runId: lease.runId, detached: false })
    await untilRecorded(run, openDispatch(parts.database, { ...record, ...keyed }, { lease }), begun)
    return finish(run, hold)
  })
}

/** Takes up a recorded dispatch again; answers false when another run has just taken it. */
async function reopen (
  { database }: PipelineDependencies,
  { company_id: companyId, dispatch_id: dispatchId }: DispatchRecord,
  { actor, replacement, also }: ResumeOptions,
  beginning: DispatchStart
): Promise<boolean> {
  const resumed = resumeDispatch(database, {
    companyId,
    dispatchId,
    actor: userActorOf(actor),
    ...(replacement === undefined ? {} : { replacement }),
    ...(also === undefined ? {} : { also }),
    beginning
  })
  return untilRecorded({ dispatchId }, resumed, () => undefined)
}

async function resumeQueued (
  parts: PipelineDependencies,
  record: DispatchRecord,
  how: ResumeOptions
): Promise<DispatchResult | undefined> {
  const dispatch = { companyId: record.company_id, dispatchId: record.dispatch_id }
  return await reopen(parts, record, how, { jobs: [parts.jobs.dispatch(dispatch)] })
    ? { ...resultOf(record), status: 'queued', finishedAt: null }
    : undefined
}

async function resumeNow (
  parts: PipelineDependencies,
  finish: Finish,
  record: DispatchRecord,
  how: ResumeOptions
): Promise<DispatchResult | undefined> {
  const { company_id: companyId, dispatch_id: dispatchId } = record
  return parts.leases.withLease(async (lease, hold) => {
    if (!await reopen(parts, record, how, { lease })) return undefined
    const run = await rehydrateRun(parts, companyId, dispatchId, lease.runId).catch((error: unknown) => {
      throw elsewhere(dispatchId, error)
    })
    if (run === undefined) throw new Error(`The dispatch ${dispatchId} has lost its data.`)
    return finish(run, hold)
  })
}

async function runTaken (
  parts: PipelineDependencies,
  { companyId, dispatchId }: Pick<Run, 'companyId' | 'dispatchId'>,
  begun?: () => void
): Promise<void> {
  await parts.leases.withLease(async (lease, hold) => {
    const taken = await acquireLease(parts.database, { companyId, dispatchId }, { lease, from: ['queued'], becomes: 'running' })
    if (taken === undefined) return
    begun?.()
    const run = await rehydrateRecord(parts, taken, lease.runId)
    if (run === undefined) throw new Error(`The dispatch ${dispatchId} has lost its data.`)
    await hold(runSteps(parts, run))
  })
}

/** What a client reads of a dispatch that has just been queued. */
function waiting ({ dispatchId, test, metadata, steps, createdAt }: Run): DispatchResult {
  return { dispatchId, status: 'queued', test, metadata, steps: steps.map(({ result }) => result), createdAt, finishedAt: null }
}
