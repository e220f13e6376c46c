import { DispatchError } from '../contract/errors.ts'
import type { Outcome } from '../host/call.ts'
import { beginAttempt, type NewDocument, type Settlement } from '../store/dispatches.ts'
import type { Result } from './answer.ts'
import { prepareCall } from './dispatch.ts'
import type { Parts } from './parts.ts'
import { renderDocument } from './render.ts'
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

/** The one way to run a step: make it ready, call the provider, settle. */
async function runStep (parts: Parts, run: Run, step: RunStep): Promise<Result> {
  const ready = await makeReady(parts, run, step)
  if ('failed' in ready) {
    await settle(parts, run, step, ready.failed, { kind: 'system' })
    return resultOf(parts, run, step, ready.failed, null)
  }
  const settlement = settlementOf(await ready.call())
  await settle(parts, run, step, settlement, { kind: 'provider', code: step.provider.code })
  return resultOf(parts, run, step, settlement, ready.document)
}

type Ready = { document: StoredDocument, call: () => Promise<Outcome> } | { failed: Settlement }

/** Makes the document unless there is one, and commits the attempt. What fails here was surely not sent. */
async function makeReady (parts: Parts, run: Run, step: RunStep): Promise<Ready> {
  const { companyId, dispatchId } = run
  const { stepId, provider: { code, version } } = step
  try {
    const { document, fresh } = await documentOf(parts, run, step)
    const attempt = { companyId, dispatchId, stepId, providerCode: code, providerVersion: version, ...(fresh === undefined ? {} : { document: fresh }) }
    await beginAttempt(parts.database, attempt, parts.now())
    return { document, call: await prepareCall(parts, run, step, document) }
  } catch (error) {
    if (error instanceof DispatchError && error.word === 'conflict') throw error
    parts.log.warn({ err: error, companyId, dispatchId }, 'the provider was not called')
    return { failed: settlementOfFailure(error) }
  }
}

async function documentOf (parts: Parts, run: Run, { document }: RunStep): Promise<{ document: StoredDocument, fresh?: NewDocument }> {
  if (document !== undefined) return { document }
  const fresh = await renderDocument(parts, run)
  return { document: { ...fresh, id: fresh.documentId }, fresh }
}

function resultOf ({ now }: Pick<Parts, 'now'>, run: Run, step: RunStep, settlement: Settlement, document: StoredDocument | null): Result {
  const { dispatchId, metadata, createdAt } = run
  const accepted = settlement.outcome === 'accepted'
  return {
    dispatchId,
    status: statusAfter[settlement.outcome],
    metadata,
    step: {
      service: step.service,
      providerName: step.provider.code,
      status: settlement.outcome,
      response: accepted ? settlement.response : null,
      document,
      error: accepted ? null : settlement.error
    },
    createdAt,
    finishedAt: now()
  }
}
