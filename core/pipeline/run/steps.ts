import type { DocumentHandle } from '@dispatch/common'
import { DispatchError, type Spans, within } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { FileStore } from '@dispatch/files'
import type { Outcome } from '@dispatch/host'
import { isLinked, services } from '@dispatch/services'
import type { EventActor, StepCandidate } from '@dispatch/tables'
import type { DocumentSpool } from '@dispatch/vendor-io'
import type { Readable } from 'node:stream'
import { beginAttempt, type Settlement } from '../../store/dispatch/steps.ts'
import { enclosuresOf } from '../enclosures.ts'
import type { FileShelf } from '../file-shelf.ts'
import { placesOf } from '../places.ts'
import { requireWelcome } from '../recipients.ts'
import type { RunResult } from '../respond/result.ts'
import { isCallable, isOffPath, settled, type Step } from '../step.ts'
import { checkDocuments, prepareCall, readDocument, type StepCallDependencies } from './call.ts'
import { handOn, handOnAgain, type HandOnDependencies } from './chain-document.ts'
import { type ContentDependencies, type HandOn, prepareContent, type PreparedContent } from './content.ts'
import { fromFirst, isFollowing, leftOut, nextCandidate, withCandidate } from './failover.ts'
import { waitForHours } from './hours.ts'
import { type OutcomeDependencies, recordLateOutcome } from './late-outcomes.ts'
import { withPageBefore } from './page-before.ts'
import { advance, type PlannedDispatch, type Run, takeAttempted } from './run.ts'
import { settle, type Settled, type SettleDependencies, settlementOf, settlementOfFailure } from './settle.ts'

/** What running a step takes: its content is made, its provider called, its outcome recorded. */
export type StepDependencies = ContentDependencies & StepCallDependencies & HandOnDependencies & OutcomeDependencies

/** Runs the remaining steps of a recorded dispatch in their order, up to the first that is not accepted. */
export function runSteps (dependencies: StepDependencies, run: Run): Promise<RunResult> {
  return within('dispatch', spanOf(run, run.steps), () => runInOrder(dependencies, run))
}

/** The facts of the span in which steps of a run are done. */
export function spanOf ({ dispatchId, traceparent }: Run, steps: readonly Step[]): Spans['dispatch'] {
  return { services: steps.map(({ service }) => service).join('/'), dispatchId, ...(traceparent === undefined ? {} : { traceparent }) }
}

async function runInOrder (dependencies: StepDependencies, run: Run): Promise<RunResult> {
  const { dispatchId, companyId, test, metadata, createdAt } = run
  let end: Settled = { status: 'running', finishedAt: null }
  for (const step of run.steps) {
    if (end.status !== 'running') break
    if (step.state.status === 'accepted') continue
    end = await waitForHours(dependencies, run, step) ?? await runStep(dependencies, run, step, () => handOn(dependencies, run))
  }
  // So that the record has the provider's own document. A failure here changes nothing of the outcome.
  if (end.status === 'succeeded') {
    await handOn(dependencies, run).catch((error: unknown) =>
      dependencies.log.warn({ err: error, companyId, dispatchId }, 'the document of the provider was not fetched')
    )
  }
  return { dispatchId, test, metadata, createdAt, ...end, steps: run.steps }
}

/**
 * The one way to run a step: prepare it, call its provider if it has one, record the outcome. Of a list, the next provider is called where
 * the one before has surely done nothing.
 */
export function runStep (dependencies: StepDependencies, run: Run, planned: Step, hand: HandOn): Promise<Settled> {
  return within('step', { service: planned.service }, () => runWithOne(dependencies, run, planned, hand))
}

async function runWithOne (dependencies: StepDependencies, run: Run, planned: Step, hand: HandOn): Promise<Settled> {
  if (planned.state.restored === true && planned.by !== undefined) return doubt(dependencies, run, planned)
  const step = await fromFirst(dependencies, run, planned)
  const ready = await makeReady(dependencies, run, step, hand)
  const settlement = 'failed' in ready ? ready.failed : ready.call === undefined ? doneHere : settlementOf(await ready.call())
  // What failed here before the provider's turn would fail with every other one.
  const next = 'failed' in ready && !ready.ofProvider ? undefined : nextCandidate(step, settlement)
  const end = await settleReady(dependencies, run, ready, settlement, next)
  if (next === undefined) {
    advance(run, settled(ready.step, settlement))
    return end
  }
  const state = { ...ready.step.state, generation: ready.step.state.generation + (settlement.outcome === 'rejected' ? 1 : 0) }
  const following = await withCandidate(dependencies, run, { ...ready.step, state: { ...state, status: 'planned', error: null } }, next)
  advance(run, following)
  return runWithOne(dependencies, run, following, hand)
}

/** A step that a lost database may have done is settled as uncertain: its outcome is found out before anything is sent. */
async function doubt (dependencies: SettleDependencies, run: Run, step: Step): Promise<Settled> {
  const end = await settle(dependencies, run, step, { settlement: lostWithDatabase, actor: { kind: 'system' } })
  advance(run, settled(step, lostWithDatabase))
  return end
}

const lostWithDatabase: Settlement = {
  outcome: 'uncertain',
  error: {
    word: 'outcome_unknown',
    message: 'The database was restored from a backup, and the provider may have accepted the request since it was made: do not send it ' +
      'again before its outcome is known.'
  }
}

/** Records the outcome of a step. One that cannot be recorded is kept. */
async function settleReady (
  dependencies: OutcomeDependencies,
  run: Run,
  ready: Ready,
  settlement: Settlement,
  next: StepCandidate | undefined
): Promise<Settled> {
  const { step } = ready
  const actor: EventActor = 'failed' in ready || step.by === undefined ? { kind: 'system' } : { kind: 'provider', code: step.by.code }
  try {
    return await settle(dependencies, run, step, { settlement, actor, next })
  } catch (error) {
    const { companyId, dispatchId, runId } = run
    if (ready.attempt > 0) {
      await recordLateOutcome(dependencies, {
        companyId,
        dispatchId,
        stepId: step.stepId,
        runId,
        attempt: ready.attempt,
        actor,
        settlement
      }, error)
    }
    throw error
  }
}

/**
 * Calls a provider again with what it was called with, under the same key or from its checkpoint. A repeat that fails before the vendor, or
 * that the vendor does not let in, proves nothing about the first call. Neither does a refusal of what a lost database may have sent with
 * another document: this one is made anew.
 */
export async function repeatCall (
  dependencies: StepDependencies,
  run: Run,
  step: Step
): Promise<{ settlement: Settlement, attempt: number }> {
  const ready = await makeReady(dependencies, run, step, () => handOnAgain(dependencies, run, step))
  const { attempt } = ready
  if ('failed' in ready) return { settlement: inDoubt(ready.failed), attempt }
  const settlement = ready.call === undefined ? doneHere : settlementOf(await ready.call())
  const provesNothing = settlement.outcome === 'unavailable' || (settlement.outcome === 'rejected' && step.state.restored === true) ||
    ('error' in settlement && settlement.error.word === 'authentication_error')
  return { settlement: provesNothing ? inDoubt(settlement) : settlement, attempt }
}

function inDoubt (settlement: Settlement): Settlement {
  return 'error' in settlement ? { ...settlement, outcome: 'uncertain' } : settlement
}

/** A step that needs no provider is done once its content is made. */
const doneHere: Settlement = { outcome: 'accepted', response: null }

/**
 * `step`: with what was made for it. `attempt`: its number, 0 where none is recorded. `failed`: why it cannot be called; `ofProvider`:
 * because of its provider.
 */
type Ready = { step: Step, attempt: number } & ({ call?: () => Promise<Outcome> } | { failed: Settlement, ofProvider: boolean })

/**
 * The first attempt at a new dispatch's first step, where nothing is made or read before its provider is called: then both are recorded in
 * one transaction.
 */
export function immediateAttempt ([step]: readonly Step[]): PlannedDispatch['attempt'] {
  if (step === undefined || !isCallable(step) || isOffPath(step) || step.by.list !== undefined) return undefined
  const { stepId, by: { code, provider: { version } }, template, content, service, fields } = step
  const needsNothing = template === undefined && content.document === undefined && !isLinked(fields) &&
    enclosuresOf(step).length === 0 && ['text', 'message'].includes(services[service].content)
  return needsNothing ? { stepId, provider: { code, version } } : undefined
}

/** Makes the content unless it was made before, and records the attempt. Whatever fails here, nothing was sent. */
async function makeReady (dependencies: StepDependencies, run: Run, step: Step, hand: HandOn): Promise<Ready> {
  const { companyId, dispatchId, runId } = run
  const { stepId, by } = step
  const ready = { step, attempt: 0 }
  try {
    if (by !== undefined && by.provider === undefined) {
      throw new DispatchError('provider_unavailable', `The provider "${by.code}" is not installed any more.`)
    }
    // One whose attempt stands in its record has just been planned.
    if (by !== undefined && run.attempted !== stepId) await requireWelcome(dependencies.recipients, companyId, step)
    const { made, document, fresh } = await prepareContent(dependencies, run, step, hand)
    if (by !== undefined) {
      await checkDocuments(dependencies, run, made,
        new Set([...fresh.document === undefined ? [] : [fresh.document], ...fresh.pictures ?? []].map(({ documentId }) => documentId)))
    }
    const { content, drop } = await withPageBefore(dependencies, run, step, { made, read: readerOf(dependencies, run, fresh) })
    try {
      ready.attempt = takeAttempted(run, stepId) ? 1 : await beginAttempt(dependencies.database, {
        companyId,
        dispatchId,
        stepId,
        runId,
        ...fresh,
        ...(by?.provider === undefined ? {} : { provider: { code: by.code, version: by.provider.version, configuredBy: by.configuredBy } })
      })
      ready.step = {
        ...step,
        content: {
          ...step.content,
          ...(document === undefined ? {} : { document }),
          ...(fresh.made === undefined ? {} : { made: fresh.made })
        }
      }
      if (!isCallable(step)) return ready
      const call = await prepareCall(dependencies, run, step, content)
      return {
        ...ready,
        async call () {
          try {
            return await call()
          } finally {
            await drop()
          }
        }
      }
    } catch (error) {
      await drop()
      throw error
    }
  } catch (error) {
    if (error instanceof DispatchError && error.word === 'conflict') throw error
    dependencies.log.warn({ err: error, companyId, dispatchId }, 'the provider was not called')
    const failed = settlementOfFailure(error, placesOf(run, step))
    const cannot = isFollowing(step) && error instanceof DispatchError && error.word === 'validation_failed'
    const ofProvider = ready.attempt > 0 || cannot || (by !== undefined && by.provider === undefined)
    return { ...ready, failed: cannot ? leftOut(step, failed) : failed, ofProvider }
  }
}

/** Reads the documents of a step. One that has just been made is not recorded yet. */
function readerOf (
  dependencies: { database: Database, files: FileStore, spool: DocumentSpool, shelves: readonly FileShelf[] },
  { companyId }: Run,
  { document: fresh }: PreparedContent['fresh']
): (document: DocumentHandle) => Promise<Readable> {
  return (document) =>
    fresh?.documentId === document.id
      ? dependencies.files.stream({ key: fresh.storageKey, size: fresh.size, sha256: fresh.sha256 })
      : readDocument(dependencies, companyId, document)
}
