import type { Actor } from '@dispatch/accounts'
import { type Log, withTimeLimit } from '@dispatch/common'
import { DispatchError, type Mode } from '@dispatch/contract'
import { type Database, DatabaseUnavailable } from '@dispatch/database'
import type { DispatchRecord } from '../../store/dispatch/dispatch-views.ts'
import { type NewDispatch, openDispatch } from '../../store/dispatch/dispatches.ts'
import type { DispatchStart, TransactionHook } from '../../store/dispatch/lease.ts'
import { detachDispatch, type DispatchRef, leaveDispatch, type Replacement, resumeDispatch, takeQueued } from '../../store/dispatch/runs.ts'
import type { DispatchCommand } from '../command.ts'
import type { PipelineJobs } from '../jobs.ts'
import type { DispatchPlan } from '../plan/plan.ts'
import { resultOf, type RunResult } from '../respond/result.ts'
import { type DueDependencies, isScheduled, runDue } from './due.ts'
import { createInFlight, type InFlight } from './in-flight.ts'
import { keepUnsent } from './late-outcomes.ts'
import type { KeepLease, Leases } from './leases.ts'
import type { OutcomeSpool } from './outcome-spool.ts'
import { beginRun, plannedDispatch, type RehydrateDependencies, rehydrateRecord, rehydrateRun, type Run, userActorOf } from './run.ts'
import { enqueueEndCallback } from './settle.ts'
import { immediateAttempt, runSteps, type StepDependencies } from './steps.ts'

/** What running dispatches takes, also those that waited for their time. */
export type RunnerDependencies = StepDependencies & DueDependencies

/** Lets a dispatch go on. Answers undefined when another run has just taken it. */
export type Resume = (
  record: DispatchRecord,
  how: { actor: Actor, mode?: Mode | undefined, replacement?: Replacement, also?: TransactionHook }
) => Promise<RunResult | undefined>

/** `begun` is called once the dispatch is recorded, or once nobody can tell whether it is. */
type Opening = Pick<NewDispatch, 'idempotency'> & { begun: () => void }

/** Records dispatches and runs them: at once for a client that waits, by the queue otherwise. */
export type Runner = {
  /** Begins a dispatch that was planned. */
  begin: (command: DispatchCommand, plan: DispatchPlan, opening: Opening) => Promise<RunResult>
  resume: Resume
  /** Takes the leases of queued dispatches together, and begins to run those that no other run has taken. Answers these. */
  beginQueued: <Queued extends QueuedDispatch>(dispatches: readonly Queued[]) => Promise<BegunRun<Queued>[]>
  /** Resolves when no dispatch is under way in this process. */
  drain: () => Promise<void>
}

/** A queued dispatch. `keptWaiting` is called when a vendor keeps it waiting. */
type QueuedDispatch = DispatchRef & Pick<Run, 'keptWaiting'>
/** The run of a dispatch that was queued. `ended` rejects when it failed; then another run goes on with the dispatch. */
type BegunRun<Queued> = { queued: Queued, ended: Promise<void> }

/** Milliseconds that a client waits until an asynchronous dispatch is recorded. */
const intakeLimit = 5_000

/** `limit`: seconds that a client waits for the end of a dispatch. */
export function createRunner (dependencies: RunnerDependencies, { limit }: { limit: number }): Runner {
  const inFlight = createInFlight({ limit, log: dependencies.log })
  const finish = (run: Run, hold: KeepLease): Promise<RunResult> => finishRun(dependencies, inFlight, run, hold)
  return {
    begin: (command, plan, opening) =>
      command.mode === 'asynchronous' || plan.schedule?.dueAt !== undefined
        ? beginQueued(dependencies, command, plan, opening)
        : beginNow(dependencies, finish, command, plan, opening),

    resume: (record, how) =>
      how.mode === 'asynchronous' ? resumeQueued(dependencies, record, how) : resumeNow(dependencies, finish, record, how),

    beginQueued: (dispatches) => takeAndBegin(dependencies, inFlight, dispatches),

    drain: inFlight.drain
  }
}

type ResumeOptions = Parameters<Resume>[1]
type Finish = (run: Run, hold: KeepLease) => Promise<RunResult>

/** Runs the steps, and waits for their end for as long as a client may. After that the client reads the end later, and is called back. */
async function finishRun (dependencies: StepDependencies, inFlight: InFlight, run: Run, hold: KeepLease): Promise<RunResult> {
  const ended = hold(runSteps(dependencies, run)).catch((error: unknown) => leftToAnother(run, error))
  return inFlight.within(ended, run.dispatchId, async () => {
    run.detached = true
    await detachDispatch(dependencies.database, run, {
      runId: run.runId,
      tell: (queries, status) => enqueueEndCallback(dependencies, run, status)(queries)
    })
  })
}

async function beginQueued (
  dependencies: { database: Database, jobs: PipelineJobs, newId: () => string },
  command: DispatchCommand,
  plan: DispatchPlan,
  { begun, ...idempotency }: Opening
): Promise<RunResult> {
  const record = plannedDispatch(plan, command, { dispatchId: command.dispatchId ?? dependencies.newId(), ...idempotency })
  const { dispatchId, test, metadata, schedule } = record
  const job = schedule?.dueAt !== undefined
    ? dependencies.jobs.scheduled(record, schedule.dueAt, command.batchId !== undefined)
    : command.batchId !== undefined
    ? dependencies.jobs.batched(record)
    : dependencies.jobs.dispatch(record)
  const opened = openDispatch(dependencies.database, record, { jobs: [job] })
  const createdAt = await untilRecorded(record, withTimeLimit(intakeLimit, opened, () => recordingUnknown(record)), begun)
  const sendAt = schedule?.dueAt === undefined ? {} : { sendAt: schedule.dueAt }
  return { dispatchId, status: 'queued', test, metadata, steps: plan.steps, createdAt, finishedAt: null, ...sendAt }
}

async function beginNow (
  dependencies: { database: Database, leases: Leases, outcomes: OutcomeSpool, log: Log, now: () => Date, newId: () => string },
  finish: Finish,
  command: DispatchCommand,
  plan: DispatchPlan,
  { begun, ...idempotency }: Opening
): Promise<RunResult> {
  const planned = plannedDispatch(plan, command, { dispatchId: command.dispatchId ?? dependencies.newId(), ...idempotency })
  const attempt = immediateAttempt(planned.steps)
  const record = { ...planned, ...(attempt === undefined ? {} : { attempt }) }
  return dependencies.leases.withLease(async (lease, hold) => {
    const opened = openDispatch(dependencies.database, record, { lease }).catch(async (error: unknown) => {
      if (attempt !== undefined && isUncertain(error)) await keepUnsent(dependencies, record, attempt.stepId, lease.runId)
      throw error
    })
    return finish(beginRun(record, { runId: lease.runId, createdAt: await untilRecorded(record, opened, begun) }), hold)
  })
}

/** Begins a recorded dispatch again. Answers false when another run has just taken it. */
async function reopen (
  { database }: { database: Database },
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
  dependencies: { database: Database, jobs: PipelineJobs },
  record: DispatchRecord,
  how: ResumeOptions
): Promise<RunResult | undefined> {
  const dispatch = { companyId: record.company_id, dispatchId: record.dispatch_id }
  return await reopen(dependencies, record, how, { jobs: [dependencies.jobs.dispatch(dispatch)] })
    ? { ...resultOf(record), status: 'queued', finishedAt: null }
    : undefined
}

async function resumeNow (
  dependencies: RehydrateDependencies & { database: Database, leases: Leases },
  finish: Finish,
  record: DispatchRecord,
  how: ResumeOptions
): Promise<RunResult | undefined> {
  const { company_id: companyId, dispatch_id: dispatchId } = record
  return dependencies.leases.withLease(async (lease, hold) => {
    if (!await reopen(dependencies, record, how, { lease })) return undefined
    const run = await rehydrateRun(dependencies, companyId, dispatchId, lease.runId).catch((error: unknown) => {
      throw elsewhere(dispatchId, error)
    })
    if (run === undefined) throw new Error(`The dispatch ${dispatchId} has lost its data.`)
    return finish(run, hold)
  })
}

async function takeAndBegin<Queued extends QueuedDispatch> (
  dependencies: RunnerDependencies,
  inFlight: InFlight,
  dispatches: readonly Queued[]
): Promise<BegunRun<Queued>[]> {
  const { database, leases } = dependencies
  const desired = dispatches.map((queued) => ({ queued, ...leases.begin() }))
  const taken = await takeQueued(database, desired.map(({ queued, lease }) => ({ ...queued, lease }))).catch((error: unknown) => {
    for (const { end } of desired) end()
    throw error
  })
  return desired.flatMap(({ queued, lease, hold, end }) => {
    const record = taken.find(({ run_id: runId }) => runId === lease.runId)
    if (record === undefined) {
      end()
      return []
    }
    const { dispatchId, keptWaiting } = queued
    const running = runTaken(dependencies, record, { runId: lease.runId, ...(keptWaiting === undefined ? {} : { keptWaiting }) }, hold)
    return [{ queued, ended: inFlight.follow(running.finally(end), dispatchId) }]
  })
}

async function runTaken (
  dependencies: RunnerDependencies,
  record: DispatchRecord,
  how: Pick<Run, 'runId' | 'keptWaiting'>,
  hold: KeepLease
): Promise<void> {
  const run = await rehydrateRecord(dependencies, record, how.runId).catch((error: unknown) =>
    leaveUnreadable(dependencies, record, how.runId, error)
  )
  if (run === 'left') return
  if (run === undefined) throw new Error(`The dispatch ${record.dispatch_id} has lost its data.`)
  await hold(isScheduled(record) ? runDue(dependencies, record, { ...run, ...how }) : runSteps(dependencies, { ...run, ...how }))
}

/**
 * Gives back a dispatch that only a process of a newer release can read. It waits for half of its age, 1 to 30 seconds, by the clock of the
 * database, which set its time: a process whose clock is wrong would take it again at once, or late.
 */
async function leaveUnreadable (
  { database, jobs, log }: Pick<RunnerDependencies, 'database' | 'jobs' | 'log'>,
  { company_id: companyId, dispatch_id: dispatchId, created_at: createdAt }: DispatchRecord,
  runId: string,
  error: unknown
): Promise<'left'> {
  if (!(error instanceof DispatchError && error.word === 'service_unavailable')) throw error
  const age = (await database.time()).getTime() - createdAt.getTime()
  const seconds = Math.ceil(Math.min(Math.max(age / 2000, 1), 30))
  const wait = { seconds, jobs: [jobs.dispatch({ companyId, dispatchId }, seconds)] }
  if (await leaveDispatch(database, { companyId, dispatchId }, { runId, ...wait })) {
    log.info({ companyId, dispatchId, seconds, reason: error.message }, 'a dispatch is left to a process that can read it')
  }
  return 'left'
}

/**
 * Waits until a dispatch is recorded. `begun` is called when it is, or when nobody can tell; then it also throws `recording_unknown`.
 */
async function untilRecorded<T> (dispatch: Pick<DispatchRef, 'dispatchId'>, opened: Promise<T>, begun: () => void): Promise<T> {
  try {
    const done = await opened
    begun()
    return done
  } catch (error) {
    const cause = isUncertain(error) ? recordingUnknown(dispatch, error) : error
    if (cause instanceof DispatchError && cause.word === 'recording_unknown') begun()
    throw cause
  }
}

function isUncertain (error: unknown): boolean {
  return error instanceof DatabaseUnavailable && error.uncertain
}

/** The database commits the statement or rolls it back within seconds; until then nobody can tell. */
function recordingUnknown ({ dispatchId }: Pick<DispatchRef, 'dispatchId'>, cause?: unknown): DispatchError {
  const message =
    `Whether the request is recorded is not known yet: GET /api/v1/dispatches/${dispatchId} tells in a minute. If it is, the ` +
    'dispatch goes on; if not, nothing was sent. The same idempotency key is safe to use again.'
  return new DispatchError('recording_unknown', message, { dispatchId, cause })
}

/** A run has lost its lease, or the database is away. The dispatch is not lost: another run goes on with it. */
function leftToAnother ({ dispatchId }: Pick<DispatchRef, 'dispatchId'>, error: unknown): never {
  const goesOn = error instanceof DatabaseUnavailable || (error instanceof DispatchError && error.word === 'conflict')
  throw goesOn ? elsewhere(dispatchId, error) : error
}

function elsewhere (dispatchId: string, cause: unknown): DispatchError {
  return new DispatchError('timeout', `The dispatch goes on in another process; read it with GET /api/v1/dispatches/${dispatchId}.`, {
    dispatchId,
    cause
  })
}
