import { hash } from 'node:crypto'
import { DispatchError } from '../contract/errors.ts'
import type { Installed } from '../host/load.ts'
import type { ServiceName } from '../services/index.ts'
import { findDispatch, type DispatchRecord, type StepRecord } from '../store/dispatch-views.ts'
import { resumeDispatch } from '../store/dispatches.ts'
import { resultOf, type Result } from './answer.ts'
import type { Parts } from './parts.ts'
import { resumeRun, type Run } from './run.ts'

export type IdempotencyKey = { key: string, fingerprint: string }

/** A key as it is bound: to the services in the path and the body, whatever its white space. */
export function fingerprintOf (services: readonly string[], body: unknown): string {
  return hash('sha256', `${services.join('/')}\n${JSON.stringify(body)}`)
}

/**
 * Answers a repeated request with the present state of the dispatch that its key created. One whose provider was surely
 * not reached goes on instead: `runSteps` runs it.
 */
export async function replay (
  parts: Parts, { companyId, actor, given, bound }: { companyId: number, actor: Run['actor'], given: IdempotencyKey, bound: { fingerprint: string, dispatchId: string } },
  runSteps: (run: Run) => Promise<Result>
): Promise<Result> {
  const { dispatchId } = bound
  if (bound.fingerprint !== given.fingerprint) {
    throw new DispatchError('idempotency_key_reused', 'This idempotency key was used with another request: take a new key for a new request.', { dispatchId })
  }
  const record = await findDispatch(parts.database, companyId, dispatchId)
  if (record === undefined) throw new Error(`The dispatch ${dispatchId} of an idempotency key is gone.`)
  if (record.status === 'running') throw inProgress(dispatchId)
  if (!isResumable(record)) return resultOf(record)
  const run = await runOf(parts, record)
  if (run === undefined) return resultOf(record)
  if (!await resumeDispatch(parts.database, { companyId, dispatchId, actor }, parts.now())) throw inProgress(dispatchId)
  return runSteps(run)
}

function inProgress (dispatchId: string): DispatchError {
  return new DispatchError('idempotency_in_progress', 'The first request with this idempotency key is still running; ask again in a moment.', { dispatchId })
}

function isResumable (record: DispatchRecord): boolean {
  return record.status === 'failed' && record.data !== null && record.steps.some(({ status }) => status === 'unavailable')
}

/** The recorded plan, ready to go on; undefined when a provider or the template of it is gone. */
async function runOf ({ host, templates }: Parts, record: DispatchRecord): Promise<Run | undefined> {
  const { company_id: companyId, template_id: id, template_version: version, data, steps } = record
  const template = id === null || version === null ? undefined : await templates.findVersion(companyId, id, version)
  const providerOf = (step: StepRecord): Installed | undefined => {
    const provider = step.provider_code === null ? undefined : host.find(step.provider_code)
    return provider?.verbs[step.service as ServiceName]?.dispatch === undefined ? undefined : provider
  }
  const isComplete = (id === null || template !== undefined) && steps.every((step) => step.provider_code === null || providerOf(step) !== undefined)
  return data === null || !isComplete ? undefined : resumeRun(record, { template, data, providerOf })
}
