import { signedEvent } from '../../contract/delivery.ts'
import { DispatchError } from '../../contract/errors.ts'
import type { DispatchStatus } from '../../contract/states.ts'
import type { Outcome } from '../../host/call/call.ts'
import type { EventActor } from '../../store/db/schema.ts'
import { beginAttempt, type Settlement } from '../../store/dispatch/steps.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { recordLateOutcome } from '../recover/late-outcomes.ts'
import type { DispatchResult, StepResult } from '../respond/result.ts'
import { checkDocuments } from './call-resources.ts'
import { type ChainDocument, placesIn, prepareContent } from './content.ts'
import { prepareCall } from './dispatch.ts'
import type { Run, RunStep, StoredContent } from './run.ts'
import { settle, settlementOf, settlementOfFailure } from './settle.ts'
import { hasVendorDocument, storeVendorDocument, vendorDocumentMark } from './vendor-document.ts'

/** What the steps of a run have come to so far, and what is made of each. */
type Progress = { results: StepResult[], contents: Map<string, StoredContent> }

/** Runs the steps of a recorded dispatch that are left, in their order, up to the first that is not accepted; tells what it came to. */
export async function runSteps (parts: PipelineDependencies, run: Run): Promise<DispatchResult> {
  const { dispatchId, companyId, test, metadata, createdAt, steps } = run
  const progress = progressOf(run)
  const hand = (): Promise<ChainDocument | undefined> => handOn(parts, run, progress)
  let status: DispatchStatus = 'running'
  for (const [index, step] of steps.entries()) {
    if (status !== 'running' || step.result.status === 'accepted') continue
    const ran = await runStep(parts, run, step, progress, hand)
    progress.results[index] = ran.result
    status = ran.status
  }
  // Whoever reads the dispatch finds the provider's document; it is fetched again where a later step cannot do without.
  if (status === 'succeeded') {
    await hand().catch((error: unknown) =>
      parts.log.warn({ err: error, companyId, dispatchId }, 'the document of the provider was not fetched')
    )
  }
  const results = progress.results.map((result, index) => ({
    ...result,
    document: progress.contents.get(steps[index]?.stepId ?? '')?.document ?? null
  }))
  return { dispatchId, status, test, metadata, steps: results, createdAt, finishedAt: status === 'queued' ? null : parts.now() }
}

/** Runs a step whose event has come, with what came of it; the dispatch stays what it is. */
export async function runDeferred (
  parts: PipelineDependencies,
  run: Run,
  step: RunStep,
  hand: () => Promise<ChainDocument>
): Promise<StepResult> {
  const { result } = await runStep(parts, run, step, { results: [], contents: new Map([[step.stepId, step.content]]) }, hand)
  return result
}

/**
 * The document of the first step: ours, or the provider's own as it was fetched, or is now. Throws `provider_unavailable` when that cannot
 * be had.
 */
async function handOn (
  parts: PipelineDependencies,
  run: Run,
  { results: [result], contents }: Progress
): Promise<ChainDocument | undefined> {
  const [source] = run.steps
  const { document, made } = contents.get(source?.stepId ?? '') ?? {}
  if (source === undefined || document === undefined) return undefined
  if (!hasVendorDocument(source) || made?.['theirs'] === true || !result?.response) return { document, signatures: placesIn(made) }
  const fetched = await storeVendorDocument(parts, run, { of: source, for: source.stepId, remoteId: result.response.id })
  contents.set(source.stepId, { document: fetched, made: vendorDocumentMark })
  return { document: fetched, signatures: [] }
}

/** The one way to run a step: make it ready, call the provider if it has one, settle. */
async function runStep (
  parts: PipelineDependencies,
  run: Run,
  step: RunStep,
  progress: Progress,
  hand: () => Promise<ChainDocument | undefined>
): Promise<{ result: StepResult, status: DispatchStatus }> {
  const ready = await makeReady(parts, run, step, progress, hand)
  const failed = 'failed' in ready
  const settlement = failed ? ready.failed : ready.call === undefined ? doneHere : settlementOf(await ready.call())
  const actor: EventActor = failed || step.by === undefined ? { kind: 'system' } : { kind: 'provider', code: step.by.provider.code }
  try {
    const status = await settle(parts, run, step, settlement, { actor, results: progress.results })
    return { result: resultOf(step, settlement), status }
  } catch (error) {
    const { companyId, dispatchId, runId } = run
    if (ready.attempt > 0) {
      await recordLateOutcome(parts, { companyId, dispatchId, stepId: step.stepId, runId, attempt: ready.attempt, actor, settlement },
        error)
    }
    throw error
  }
}

/**
 * Calls a provider again with what it was called with, under the same key or from its checkpoint: what is not sent now, or not let in, says
 * nothing of before.
 */
export async function repeatCall (
  parts: PipelineDependencies,
  run: Run,
  step: RunStep
): Promise<{ settlement: Settlement, attempt: number }> {
  const progress = progressOf(run)
  const ready = await makeReady(parts, run, step, progress, () => handAgain(parts, run, step, progress))
  const { attempt } = ready
  if ('failed' in ready) return { settlement: doubtful(ready.failed), attempt }
  const settlement = ready.call === undefined ? doneHere : settlementOf(await ready.call())
  const saysNothing = settlement.outcome === 'unavailable' || ('error' in settlement && settlement.error.word === 'authentication_error')
  return { settlement: saysNothing ? doubtful(settlement) : settlement, attempt }
}

/** Goes on with what an accepted step left: with what it was called with. */
export async function sendToRemaining (parts: PipelineDependencies, run: Run, step: RunStep): Promise<void> {
  const progress = progressOf(run)
  await runStep(parts, run, step, progress, () => handAgain(parts, run, step, progress))
}

/** What the steps of a run have come to before. */
function progressOf ({ steps }: Run): Progress {
  return { results: steps.map(({ result }) => result), contents: new Map(steps.map(({ stepId, content }) => [stepId, content])) }
}

/** The document that a step was called with. */
async function handAgain (parts: PipelineDependencies, run: Run, step: RunStep, progress: Progress): Promise<ChainDocument | undefined> {
  if (step.deferredOn === undefined) return handOn(parts, run, progress)
  return handedOver(step) ?? (step.deferredOn === signedEvent ? gone(step) : ownDocument(parts, run))
}

/** The document of a dispatch, for what is done after its path was gone. Throws `document_expired` when it is kept no more. */
export async function ownDocument (parts: PipelineDependencies, run: Run): Promise<ChainDocument> {
  const own = await handOn(parts, run, progressOf(run))
  if (own === undefined || own.document.expiresAt <= await parts.database.time()) {
    throw new DispatchError('document_expired', 'The document of the dispatch is kept no more.', { dispatchId: run.dispatchId })
  }
  return own
}

/** The document that a step whose event has come was given. */
export function handedOver ({ content: { document } }: RunStep): ChainDocument | undefined {
  return document === undefined ? undefined : { document, signatures: [] }
}

function gone ({ service }: RunStep): never {
  throw new DispatchError('provider_unavailable', `The document that "${service}" was called with is not there any more.`)
}

function doubtful (settlement: Settlement): Settlement {
  return 'error' in settlement ? { ...settlement, outcome: 'uncertain' } : settlement
}

/** A step that needs no provider is done once its content is made. */
const doneHere: Settlement = { outcome: 'accepted', response: null }

/** `attempt`: its number, 0 where none is recorded. */
type Ready = { attempt: number } & ({ call?: () => Promise<Outcome> } | { failed: Settlement })

/** Makes the content unless it is there, and commits the attempt. What fails here was surely not sent. */
async function makeReady (
  parts: PipelineDependencies,
  run: Run,
  step: RunStep,
  { contents }: Progress,
  hand: () => Promise<ChainDocument | undefined>
): Promise<Ready> {
  const { companyId, dispatchId, runId } = run
  const { stepId, by, content } = step
  let attempt = 0
  try {
    if (step.missing !== undefined) throw new DispatchError('provider_unavailable', step.missing)
    const { made, document, fresh } = await prepareContent(parts, run, step, hand)
    if (by !== undefined) {
      await checkDocuments(parts, run, made,
        new Set([...fresh.document === undefined ? [] : [fresh.document], ...fresh.pictures ?? []].map(({ documentId }) => documentId)))
    }
    attempt = await beginAttempt(parts.database, {
      companyId,
      dispatchId,
      stepId,
      runId,
      ...fresh,
      ...(by === undefined ? {} : { provider: { code: by.provider.code, version: by.provider.version } })
    })
    contents.set(stepId, {
      ...content,
      ...(document === undefined ? {} : { document }),
      ...(fresh.made === undefined ? {} : { made: fresh.made })
    })
    return by === undefined ? { attempt } : { attempt, call: await prepareCall(parts, run, { ...step, by }, made) }
  } catch (error) {
    if (error instanceof DispatchError && error.word === 'conflict') throw error
    parts.log.warn({ err: error, companyId, dispatchId }, 'the provider was not called')
    return { attempt, failed: settlementOfFailure(error, run.steps[0] === step ? '' : `/${step.service}`) }
  }
}

function resultOf ({ service, by, price }: RunStep, settlement: Settlement): StepResult {
  const accepted = settlement.outcome === 'accepted'
  return {
    service,
    providerName: by?.provider.code ?? null,
    sandbox: by?.sandbox ?? false,
    status: settlement.outcome,
    response: accepted ? settlement.response : null,
    document: null,
    error: accepted ? null : settlement.error,
    charged: accepted ? price : 0
  }
}
