import type { Actor } from '../access/account.ts'
import { sampleLink } from '../access/links.ts'
import { createConfigurationCheck } from '../configuration/vault.ts'
import type { ValidationResponse } from '../contract/response.ts'
import type { Mode } from '../contract/states.ts'
import { services } from '../services/index.ts'
import type { ServicePath } from '../services/chains.ts'
import { createRequestReader, type DispatchRequest } from '../services/request.ts'
import { readUploadFields } from '../services/upload-fields.ts'
import { findIdempotencyKey } from '../store/dispatch-views.ts'
import { IdempotencyKeyTaken, openDispatch, type NewDocument } from '../store/dispatches.ts'
import type { Result } from './answer.ts'
import { check } from './check.ts'
import { fingerprintOf, replay, type IdempotencyKey } from './idempotency.ts'
import { createInFlight } from './in-flight.ts'
import type { Parts } from './parts.ts'
import type { Plan, PlannedStep } from './plan.ts'
import { requireAll, resolve } from './resolve.ts'
import { beginRun, type Run } from './run.ts'
import { runSteps } from './steps.ts'
import { createTemplateChecks } from './template-checks.ts'

/** A request for one or more services, before anything about it is known. The client waits unless the mode says otherwise. */
export type Call = { actor: Actor, services: ServicePath, body: unknown, requestId: string, mode?: Mode, idempotencyKey?: string, file?: ReceivedFile }

/** A file that came with a request and is stored; `discard` removes it where nothing was recorded. */
export type ReceivedFile = { document: NewDocument, discard: () => Promise<void> }

/** What came of a call. `replayed`: the dispatch was there before it. */
export type Dispatched = { result: Result, replayed: boolean }

export type Pipeline = {
  /** Everything that a dispatch checks, and nothing that it does. */
  validate: (call: Call) => Promise<ValidationResponse>
  /** Checks, records, renders, calls the provider and settles. Throws a DispatchError for whatever keeps a dispatch from being recorded. */
  dispatch: (call: Call) => Promise<Dispatched>
  /** Resolves when no dispatch is under way in this process. */
  drain: () => Promise<void>
}

/** `prices` in credits by service, where they differ from the services' own; `synchronousLimit` in seconds; `publicUrl`: where links lead. */
export type PipelineOptions = { prices: Readonly<Record<string, number>>, synchronousLimit: number, publicUrl: string }

/** The way of a request: resolve → check → (recorded) render → dispatch → settle. Validation stops after the check. */
export function createPipeline (parts: Parts, { prices, synchronousLimit, publicUrl }: PipelineOptions): Pipeline {
  const { database, now } = parts
  const readers = new Map<string, (body: unknown) => DispatchRequest>()
  const catalogs = { ...parts, problemsOf: createConfigurationCheck(parts.keyring) }
  const rules = { templateChecks: createTemplateChecks(), prices, link: sampleLink(publicUrl), now }
  const inFlight = createInFlight({ limit: synchronousLimit, log: parts.log })
  const go = (run: Run): Promise<Result> => inFlight.within(runSteps(parts, run), run.dispatchId)

  function read ({ actor, services, body }: Call): DispatchRequest {
    const path = services.join('/')
    const reader = readers.get(path) ?? readerOf(services)
    readers.set(path, reader)
    const request = reader(body)
    requireAll(actor, request)
    return request
  }

  async function plan ({ actor, mode = 'synchronous' }: Call, request: DispatchRequest): Promise<Plan> {
    return check(await resolve(catalogs, actor, request), { ...rules, mode })
  }

  /** The repeat of a request whose key is bound, if it is. */
  async function repeat ({ actor }: Call, given: IdempotencyKey): Promise<Dispatched | undefined> {
    const { companyId } = actor
    const bound = await findIdempotencyKey(database, companyId, given.key, now())
    return bound && { result: await replay(parts, { companyId, actor: userOf(actor), given, bound }, go), replayed: true }
  }

  /** `started` is called once the dispatch is recorded. */
  async function begin (call: Call, request: DispatchRequest, started: () => void, idempotency?: IdempotencyKey): Promise<Dispatched> {
    const { actor: { companyId }, requestId, file } = call
    const planned = await plan(call, request)
    const time = now()
    const { run, record } = beginRun(planned, { companyId, actor: userOf(call.actor), requestId, newId: parts.newId, now: time, ...(file === undefined ? {} : { file: file.document }) })
    await openDispatch(database, { ...record, ...(idempotency === undefined ? {} : { idempotency }) }, time)
    started()
    return { result: await go(run), replayed: false }
  }

  async function beginOrRepeat (call: Call, request: DispatchRequest, started: () => void): Promise<Dispatched> {
    const { idempotencyKey: key, services, body, file } = call
    if (key === undefined) return begin(call, request, started)
    const idempotency = { key, fingerprint: fingerprintOf(services, file === undefined ? body : [body, file.document.sha256]) }
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
      return validationOf(await plan(call, request))
    },

    async dispatch (call) {
      const progress = { recorded: false }
      try {
        return await beginOrRepeat(call, read(call), () => { progress.recorded = true })
      } finally {
        if (!progress.recorded) await call.file?.discard()
      }
    },

    drain: inFlight.drain
  }
}

/** A file comes as a form, whose fields are texts; everything else is JSON. */
function readerOf (services: ServicePath): (body: unknown) => DispatchRequest {
  return services[0] === 'upload' ? (body) => readUploadFields(body as Readonly<Record<string, string>>) : createRequestReader(services)
}

function userOf ({ userId, impersonatorId }: Actor): Run['actor'] {
  return { kind: 'user', userId, ...(impersonatorId === undefined ? {} : { impersonatorId }) }
}

function validationOf ({ request, steps, deferred, warnings }: Plan): ValidationResponse {
  return {
    success: true,
    result: warnings.length === 0 ? 'success' : 'warning',
    warnings: [...warnings],
    plan: [...steps.map(plannedView), ...deferred.map((step) => ({ ...plannedView(step), on: step.deferredOn }))],
    metadata: request.metadata
  }
}

function plannedView ({ service, fields, content, by, price }: PlannedStep): ValidationResponse['plan'][number] {
  const { documentType } = services[service].facts(fields, content?.data ?? {})
  return {
    service,
    ...(by === undefined ? {} : { providerName: by.provider.code, chosenBy: by.chosenBy }),
    ...(documentType === undefined ? {} : { documentType }),
    credits: price
  }
}
