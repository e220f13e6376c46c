import { mayUse } from '../../access/permissions.ts'
import { signedEvent } from '../../contract/delivery.ts'
import { DispatchError } from '../../contract/errors.ts'
import { dispatchStatuses } from '../../contract/states.ts'
import { acquireLease, holdStep, releaseLease } from '../../store/dispatch/runs.ts'
import type { Settlement } from '../../store/dispatch/steps.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import type { ChainDocument } from './content.ts'
import { rehydrateRecord } from './rehydrate.ts'
import type { Run, RunStep } from './run.ts'
import { settle } from './settle.ts'
import { handedOver, ownDocument, runDeferred, sendToRemaining } from './steps.ts'
import { storeVendorDocument } from './vendor-document.ts'

/**
 * Does a step beside the path of its dispatch, once: what a step left, or one whose event has come, with the signed document
 * or that of the dispatch.
 */
export async function runDeferredAction (
  parts: PipelineDependencies,
  { companyId, dispatchId, stepId }: { companyId: number, dispatchId: string, stepId: string }
): Promise<void> {
  await parts.leases.withLease(async (lease) => {
    // Whatever became of the dispatch otherwise: it has no part in it. One that is being worked on is left to its next job.
    const taken = await acquireLease(parts.database, { companyId, dispatchId }, { lease, from: dispatchStatuses })
    if (taken === undefined) throw new DispatchError('conflict', 'Another run has the dispatch.', { dispatchId })
    try {
      const run = await rehydrateRecord(parts, taken, lease.runId)
      const step = run?.deferred.find((one) => one.stepId === stepId)
      if (run === undefined || step === undefined || !['planned', 'unavailable'].includes(step.result.status)) return
      await (step.rest === undefined ? actAfterEvent(parts, run, step) : sendToRemaining(parts, run, step))
    } finally {
      await releaseLease(parts.database, { companyId, dispatchId }, lease.runId)
    }
  })
}

async function actAfterEvent (parts: PipelineDependencies, run: Run, step: RunStep): Promise<void> {
  const refused = await refusalOf(parts, run, step)
  if (refused === undefined) await runDeferred(parts, run, step, once(() => handOver(parts, run, step)))
  else await settle(parts, run, step, refused, { actor: { kind: 'system' }, results: [] })
}

/** What a step asks for twice is fetched once. */
function once<T> (fetch: () => Promise<T>): () => Promise<T> {
  let fetched: Promise<T> | undefined
  return () => fetched ??= fetch()
}

/** Permission and credits are checked again when it is done; its configuration when it is called. */
async function refusalOf (
  { accounts, database }: PipelineDependencies,
  { companyId, dispatchId, actor }: Run,
  { service, stepId, price }: RunStep
): Promise<Settlement | undefined> {
  const account = await accounts.byId(actor.userId)
  if (account === undefined || account.disabled || !mayUse(account, service)) {
    return {
      outcome: 'rejected',
      error: { word: 'forbidden', message: `The user who asked for it may not use the service "${service}" any more.` }
    }
  }
  try {
    await holdStep(database, { companyId, dispatchId, stepId, price })
    return undefined
  } catch (error) {
    if (!(error instanceof DispatchError)) throw error
    return { outcome: 'rejected', error: { word: error.word, message: error.message } }
  }
}

/** The document that a deferred step takes over: the signed one, fetched once, where everybody has signed; else that of the dispatch. */
async function handOver (parts: PipelineDependencies, run: Run, step: RunStep): Promise<ChainDocument> {
  const { stepId, deferredOn } = step
  const given = handedOver(step)
  if (given !== undefined) return given
  if (deferredOn !== signedEvent) return ownDocument(parts, run)
  const [service] = signedEvent.split('.')
  const of = run.steps.find((step) => step.service === service)
  if (of?.by === undefined || of.result.response === null) {
    throw new DispatchError('provider_unavailable', 'The dispatch has no accepted step that the event could be about.')
  }
  return {
    document: await storeVendorDocument(parts, run, { of: { ...of, by: of.by }, for: stepId, remoteId: of.result.response.id }),
    signatures: []
  }
}
