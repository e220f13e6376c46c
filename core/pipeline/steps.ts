import { beginAttempt, type NewDocument, type Settlement } from '../store/dispatches.ts'
import type { Result } from './answer.ts'
import { callProvider } from './dispatch.ts'
import type { Parts } from './parts.ts'
import { renderDocument } from './render.ts'
import type { Run, RunStep, StoredDocument } from './run.ts'
import { settle, settlementOf, settlementOfRendering, statusAfter } from './settle.ts'

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

/** The one way to run a step: make its document unless there is one, record the attempt, call the provider, settle. */
async function runStep (parts: Parts, run: Run, step: RunStep): Promise<Result> {
  const made = await documentOf(parts, run, step)
  if ('failed' in made) {
    await settle(parts, run, step, made.failed, { kind: 'system' })
    return resultOf(parts, run, step, made.failed, null)
  }
  const { companyId, dispatchId } = run
  const { stepId, provider } = step
  const attempt = { companyId, dispatchId, stepId, providerCode: provider.code, providerVersion: provider.version, ...(made.fresh === undefined ? {} : { document: made.fresh }) }
  await beginAttempt(parts.database, attempt, parts.now())
  const settlement = settlementOf(await callProvider(parts, run, step, made.document))
  await settle(parts, run, step, settlement, { kind: 'provider', code: provider.code })
  return resultOf(parts, run, step, settlement, made.document)
}

type Made = { document: StoredDocument, fresh?: NewDocument } | { failed: Settlement }

async function documentOf (parts: Parts, run: Run, step: RunStep): Promise<Made> {
  if (step.document !== undefined) return { document: step.document }
  try {
    const fresh = await renderDocument(parts, run)
    return { document: { ...fresh, id: fresh.documentId }, fresh }
  } catch (error) {
    parts.log.warn({ err: error, companyId: run.companyId, dispatchId: run.dispatchId }, 'the document could not be made')
    return { failed: settlementOfRendering(error) }
  }
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
