import { DispatchError } from '../contract/errors.ts'
import type { Outcome } from '../host/call.ts'
import { beginAttempt, type Settlement } from '../store/dispatches.ts'
import type { Result } from './answer.ts'
import { prepareCall } from './dispatch.ts'
import { makeContent } from './make.ts'
import type { Parts } from './parts.ts'
import type { Run, RunStep, StoredDocument } from './run.ts'
import { settle, settlementOf, settlementOfFailure, statusAfter } from './settle.ts'

/** Runs the steps of a recorded dispatch in their order, up to the first that is not accepted; tells what it came to. */
export async function runSteps (parts: Parts, run: Run): Promise<Result> {
  const [first, ...rest] = run.steps
  if (first === undefined) throw new Error(`The dispatch ${run.dispatchId} has no step to run.`)
  let result = await runStep(parts, run, first)
  for (const step of rest) {
    if (result.status !== 'succeeded') break
    result = await runStep(parts, run, step)
  }
  return result
}

/** The one way to run a step: make it ready, call the provider if it has one, settle. */
async function runStep (parts: Parts, run: Run, step: RunStep): Promise<Result> {
  const ready = await makeReady(parts, run, step)
  if ('failed' in ready) {
    await settle(parts, run, step, ready.failed, { kind: 'system' })
    return resultOf(parts, run, step, ready.failed, null)
  }
  const settlement = ready.call === undefined ? doneHere : settlementOf(await ready.call())
  await settle(parts, run, step, settlement, step.by === undefined ? { kind: 'system' } : { kind: 'provider', code: step.by.provider.code })
  return resultOf(parts, run, step, settlement, ready.document)
}

/** A step that needs no provider is done once its content is made. */
const doneHere: Settlement = { outcome: 'accepted', response: null }

type Ready = { document: StoredDocument | null, call?: () => Promise<Outcome> } | { failed: Settlement }

/** Makes the content unless it is there, and commits the attempt. What fails here was surely not sent. */
async function makeReady (parts: Parts, run: Run, step: RunStep): Promise<Ready> {
  const { companyId, dispatchId } = run
  const { stepId, by } = step
  try {
    const { made, document = null, fresh } = await makeContent(parts, run, step)
    const attempt = { companyId, dispatchId, stepId, ...fresh, ...(by === undefined ? {} : { provider: { code: by.provider.code, version: by.provider.version } }) }
    await beginAttempt(parts.database, attempt, parts.now())
    return { document, ...(by === undefined ? {} : { call: await prepareCall(parts, run, { ...step, by }, made) }) }
  } catch (error) {
    if (error instanceof DispatchError && error.word === 'conflict') throw error
    parts.log.warn({ err: error, companyId, dispatchId }, 'the provider was not called')
    return { failed: settlementOfFailure(error) }
  }
}

function resultOf ({ now }: Pick<Parts, 'now'>, run: Run, step: RunStep, settlement: Settlement, document: StoredDocument | null): Result {
  const { dispatchId, metadata, createdAt } = run
  const accepted = settlement.outcome === 'accepted'
  return {
    dispatchId,
    status: statusAfter[settlement.outcome],
    metadata,
    steps: [{
      service: step.service,
      providerName: step.by?.provider.code ?? null,
      status: settlement.outcome,
      response: accepted ? settlement.response : null,
      document,
      error: accepted ? null : settlement.error,
      charged: 0
    }],
    createdAt,
    finishedAt: now()
  }
}
