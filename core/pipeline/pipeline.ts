import { withTimeLimit } from '@dispatch/common'
import type { Actor } from '../access/account.ts'
import { sampleLink } from '../access/document-links.ts'
import { createConfigurationCheck } from '../configuration/vault.ts'
import { DispatchError } from '../contract/errors.ts'
import type { ValidationResponse } from '../contract/response.ts'
import type { Mode } from '../contract/states.ts'
import { latestVersion, type Version } from '../contract/versions.ts'
import type { Host } from '../host/host.ts'
import type { ServicePath } from '../services/chains.ts'
import { createRequestReader, type DispatchRequest } from '../services/request.ts'
import { readUploadFields } from '../services/upload-fields.ts'
import { DatabaseUnavailable } from '../store/db/unavailable.ts'
import { findIdempotencyKey } from '../store/dispatch/dispatch-views.ts'
import { IdempotencyKeyTaken, openDispatch } from '../store/dispatch/dispatches.ts'
import type { NewDocument } from '../store/dispatch/documents.ts'
import type { DispatchStart } from '../store/dispatch/lease.ts'
import { acquireLease, detachDispatch, resumeDispatch } from '../store/dispatch/runs.ts'
import type { PipelineDependencies } from './dependencies.ts'
import { checkAndPlan } from './plan/check.ts'
import type { DispatchPlan } from './plan/plan.ts'
import { requireAll, requireServices, resolveRequest } from './plan/resolve.ts'
import { createTemplateChecks } from './plan/template-checks.ts'
import { validationOf } from './plan/validation.ts'
import { createOperatorActions, type OperatorActions, type Resume } from './recover/operator-actions.ts'
import { fingerprintOf, type IdempotencyKey, inProgress, isResumable, repeatedDispatch } from './respond/idempotency.ts'
import { type DispatchResult, resultOf } from './respond/result.ts'
import { createInFlight } from './run/in-flight.ts'
import type { KeepLease } from './run/leases.ts'
import { rehydrateRecord, rehydrateRun } from './run/rehydrate.ts'
import { beginRun, type Run, userActorOf } from './run/run.ts'
import { enqueueEndCallback } from './run/settle.ts'
import { runSteps } from './run/steps.ts'

/**
 * A request for one or more services, before anything about it is known. The client waits unless the mode says otherwise; `version`: of the
 * API, the latest unless given.
 */
export type DispatchCommand = {
  actor: Actor
  services: ServicePath
  body: unknown
  requestId: string
  mode?: Mode
  version?: Version
  idempotencyKey?: string
  file?: ReceivedFile
}

/** A file that came with a request and is stored; `discard` removes it where nothing was recorded. */
export type ReceivedFile = { document: NewDocument, discard: () => Promise<void> }

/** What came of a call. `replayed`: the dispatch was there before it. */
export type DispatchReply = { result: DispatchResult, replayed: boolean }

export type Pipeline = OperatorActions & {
  /** Everything that a dispatch checks, and nothing that it does. */
  validate: (call: DispatchCommand) => Promise<ValidationResponse>
  /** Checks, records, renders, calls the provider and settles. Throws a DispatchError for whatever keeps a dispatch from being recorded. */
  dispatch: (call: DispatchCommand) => Promise<DispatchReply>
  /** Runs a dispatch that waits, if it still does. `begun` is called once it is taken: if it does not end here, its lease does. */
  runQueued: (dispatch: Pick<Run, 'companyId' | 'dispatchId'>, begun?: () => void) => Promise<void>
  /** Resolves when no dispatch is under way in this process. */
  drain: () => Promise<void>
}

/**
 * `prices` in credits by service, where they differ from the services' own; `synchronousLimit` in seconds; `publicUrl`: where links lead.
 * `standIn`: the code of the provider that test keys reach where the chosen one has no sandbox. `offered`: the providers that may be
 * chosen; all unless given.
 */
export type PipelineOptions = {
  prices: Readonly<Record<string, number>>
  synchronousLimit: number
  publicUrl: string
  standIn?: string
  offered?: Host
}

/** Milliseconds that a client waits for what contacts nobody. */
const limits = { validation: 10_000, intake: 5_000 }

/** The way of a request: resolve → check → (recorded) render → dispatch → settle. Validation stops after the check. */
export function createPipeline (
  parts: PipelineDependencies,
  { prices, synchronousLimit, publicUrl, standIn, offered = parts.host }: PipelineOptions
): Pipeline {
  const { database, leases, jobs, now } = parts
  const readers = new Map<string, (body: unknown) => DispatchRequest>()
  const catalogs = { ...parts, host: offered, disk: parts.diskRoot !== undefined, problemsOf: createConfigurationCheck(parts.keyring) }
  const templateChecks = createTemplateChecks(parts.templateWorkers)
  const rules = { prices, link: sampleLink(publicUrl), now, guard: parts.network.guard }
  const inFlight = createInFlight({ limit: synchronousLimit, log: parts.log })

  /** Whoever waits too long reads later what became of it, and is called back. */
  async function detach (run: Run): Promise<void> {
    run.detached = true
    await detachDispatch(database, run, { runId: run.runId, tell: (queries, status) => enqueueEndCallback(parts, run, status)(queries) })
  }

  /** Runs the steps, and waits for their end as long as a client may. */
  async function finish (run: Run, hold: KeepLease): Promise<DispatchResult> {
    return inFlight.within(hold(runSteps(parts, run)).catch((error: unknown) => leftToAnother(run, error)), run.dispatchId,
      () => detach(run))
  }

  function read ({ actor, services, body }: DispatchCommand): DispatchRequest {
    // Who may not use a service learns nothing of what it takes.
    requireServices(actor, services)
    const path = services.join('/')
    const reader = readers.get(path) ?? readerOf(services)
    readers.set(path, reader)
    const request = reader(body)
    requireAll(actor, request)
    return request
  }

  async function plan (
    { actor, mode = 'synchronous', version = latestVersion }: DispatchCommand,
    request: DispatchRequest
  ): Promise<DispatchPlan> {
    const draft = await resolveRequest({ ...catalogs, version }, actor, request)
    const standsIn = standIn === undefined ? {} : { standIn: parts.host.find(standIn) }
    return checkAndPlan(draft, { ...rules, templateFindings: await templateChecks(draft), mode, version, ...standsIn })
  }

  /** `started` is called once the dispatch is recorded. */
  async function begin (
    call: DispatchCommand,
    request: DispatchRequest,
    started: () => void,
    idempotency?: IdempotencyKey
  ): Promise<DispatchReply> {
    const { actor: { companyId }, requestId, file, mode } = call
    const planned = await plan(call, request)
    const time = now()
    const beginner = {
      companyId,
      actor: userActorOf(call.actor),
      requestId,
      newId: parts.newId,
      now: time,
      ...(file === undefined ? {} : { file: file.document })
    }
    const keyed = idempotency === undefined ? {} : { idempotency }
    if (mode === 'asynchronous') {
      const { run, record } = beginRun(planned, { ...beginner, runId: '', detached: true })
      const opened = openDispatch(database, { ...record, ...keyed }, { jobs: [jobs.dispatch(run)] })
      await recorded(run, withTimeLimit(limits.intake, opened, () => recordingUnknown(run)), started)
      return { result: waiting(run), replayed: false }
    }
    const result = await leases.withLease(async (lease, hold) => {
      const { run, record } = beginRun(planned, { ...beginner, runId: lease.runId, detached: false })
      await recorded(run, openDispatch(database, { ...record, ...keyed }, { lease }), started)
      return finish(run, hold)
    })
    return { result, replayed: false }
  }

  /** Waits until a dispatch is recorded. Throws `recording_unknown` when that is not known: it may have been. */
  async function recorded<T> (run: Pick<Run, 'dispatchId'>, opened: Promise<T>, started: () => void): Promise<T> {
    try {
      const done = await opened
      started()
      return done
    } catch (error) {
      const cause = error instanceof DatabaseUnavailable && error.doubtful ? recordingUnknown(run, error) : error
      if (cause instanceof DispatchError && cause.word === 'recording_unknown') started()
      throw cause
    }
  }

  /** The repeat of a request whose key is bound, if it is. What was surely not sent goes on. */
  async function repeat ({ actor, mode }: DispatchCommand, given: IdempotencyKey): Promise<DispatchReply | undefined> {
    const { companyId } = actor
    const bound = await findIdempotencyKey(database, companyId, given.key)
    if (bound === undefined) return undefined
    const record = await repeatedDispatch(database, companyId, given, bound)
    const result = isResumable(record) ? await resume(record, { actor, mode }) : resultOf(record)
    if (result === undefined) throw inProgress(bound.dispatchId)
    return { result, replayed: true }
  }

  const resume: Resume = async (record, { actor, mode, replacement, also }) => {
    const resumed = {
      companyId: record.company_id,
      dispatchId: record.dispatch_id,
      actor: userActorOf(actor),
      ...(replacement === undefined ? {} : { replacement }),
      ...(also === undefined ? {} : { also })
    }
    const again = (beginning: DispatchStart): Promise<boolean> =>
      recorded(resumed, resumeDispatch(database, { ...resumed, beginning }), () => undefined)
    if (mode === 'asynchronous') {
      return await again({ jobs: [jobs.dispatch(resumed)] })
        ? { ...resultOf(record), status: 'queued', finishedAt: null }
        : undefined
    }
    return leases.withLease(async (lease, hold) => {
      if (!await again({ lease })) return undefined
      const run = await rehydrateRun(parts, resumed.companyId, resumed.dispatchId, lease.runId).catch((error: unknown) => {
        throw elsewhere(resumed.dispatchId, error)
      })
      if (run === undefined) throw new Error(`The dispatch ${resumed.dispatchId} has lost its data.`)
      return finish(run, hold)
    })
  }

  async function beginOrRepeat (call: DispatchCommand, request: DispatchRequest, started: () => void): Promise<DispatchReply> {
    const { actor, idempotencyKey: key, services, body, file } = call
    if (key === undefined) return begin(call, request, started)
    const idempotency = {
      key,
      fingerprint: fingerprintOf(services, file === undefined ? body : [body, file.document.sha256], actor.key?.mode ?? 'live')
    }
    try {
      return await repeat(call, idempotency) ?? await begin(call, request, started, idempotency)
    } catch (error) {
      // Another request with the key was recorded between the look and the try.
      const repeated = error instanceof IdempotencyKeyTaken ? await repeat(call, idempotency) : undefined
      if (repeated === undefined) throw error
      return repeated
    }
  }

  return {
    async validate (call) {
      const request = read(call)
      return validationOf(
        await withTimeLimit(limits.validation, plan(call, request),
          () => new DispatchError('timeout', 'The validation took longer than 10 seconds: try again later.'))
      )
    },

    async dispatch (call) {
      const progress = { recorded: false }
      try {
        return await beginOrRepeat(call, read(call), () => {
          progress.recorded = true
        })
      } catch (error) {
        // What nobody has refused may have been recorded all the same; a file that is nobody's is removed with time.
        progress.recorded ||= !(error instanceof DispatchError)
        throw error
      } finally {
        if (!progress.recorded) await call.file?.discard()
      }
    },

    ...createOperatorActions(parts, { resume, link: rules.link }),

    runQueued: ({ companyId, dispatchId }, begun) =>
      inFlight.follow(leases.withLease(async (lease, hold) => {
        const taken = await acquireLease(database, { companyId, dispatchId }, { lease, from: ['queued'], becomes: 'running' })
        if (taken === undefined) return
        begun?.()
        const run = await rehydrateRecord(parts, taken, lease.runId)
        if (run === undefined) throw new Error(`The dispatch ${dispatchId} has lost its data.`)
        await hold(runSteps(parts, run))
      }), dispatchId),

    drain: inFlight.drain
  }
}

/** A run that has lost its lease has not lost its dispatch. */
/** What has begun is recorded, and gone on with: by whoever has it now, or once the database is back. */
function leftToAnother ({ dispatchId }: Run, error: unknown): never {
  const goesOn = error instanceof DatabaseUnavailable || (error instanceof DispatchError && error.word === 'conflict')
  throw goesOn ? elsewhere(dispatchId, error) : error
}

function elsewhere (dispatchId: string, cause: unknown): DispatchError {
  return new DispatchError('timeout', `The dispatch goes on in another process; read it with GET /api/v1/dispatches/${dispatchId}.`, {
    dispatchId,
    cause
  })
}

/** A statement that is under way ends within seconds, one way or the other. */
function recordingUnknown ({ dispatchId }: Pick<Run, 'dispatchId'>, cause?: unknown): DispatchError {
  const message =
    `Whether the request is recorded is not known yet: GET /api/v1/dispatches/${dispatchId} tells in a minute. If it is, the ` +
    'dispatch goes on; if not, nothing was sent. The same idempotency key is safe to use again.'
  return new DispatchError('recording_unknown', message, { dispatchId, cause })
}

/** What a client reads of a dispatch that has just been queued. */
function waiting ({ dispatchId, test, metadata, steps, createdAt }: Run): DispatchResult {
  return { dispatchId, status: 'queued', test, metadata, steps: steps.map(({ result }) => result), createdAt, finishedAt: null }
}

/** A file comes as a form, whose fields are texts; everything else is JSON. */
function readerOf (services: ServicePath): (body: unknown) => DispatchRequest {
  return services[0] === 'upload' ? (body) => readUploadFields(body as Readonly<Record<string, string>>) : createRequestReader(services)
}
