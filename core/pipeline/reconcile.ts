import { DispatchError } from '../contract/errors.ts'
import type { DispatchStatus } from '../contract/states.ts'
import type { CallContext } from '../host/call.ts'
import { callLookup } from '../host/lookup.ts'
import type { Enqueue } from '../store/lease.ts'
import type { StepError } from '../store/schema.ts'
import { endRun, postponeLook, takeRun } from '../store/runs.ts'
import { settleStep, type Following, type Settlement } from '../store/steps.ts'
import { contextOf } from './dispatch.ts'
import { openRun } from './load.ts'
import type { Parts } from './parts.ts'
import { afterUncertain, goesOn, retryAfter } from './patience.ts'
import type { ProviderStep, Run, RunStep } from './run.ts'
import { repeatCall } from './steps.ts'
import { ended, statusAfter } from './settle.ts'

/** What was learnt about a step in doubt. `again`: it was surely not sent, and may be by itself. `later`: nothing, not before then. */
type Learnt = { settlement: Settlement, again?: true } | { later?: Date }

/** Looks what became of a step in doubt, and lets its dispatch go on from there. */
export async function reconcile (parts: Parts, { companyId, dispatchId, stepId }: { companyId: number, dispatchId: string, stepId: string }): Promise<void> {
  await parts.leases.under(async (lease) => {
    const taken = await takeRun(parts.database, { companyId, dispatchId }, { lease, from: settledStates, detach: true })
    if (taken === undefined) return
    const run = await openRun(parts, taken, lease.runId)
    const step = run && [...run.steps, ...run.deferred].find((one) => one.stepId === stepId)
    if (run === undefined || step?.result.status !== 'uncertain') return endRun(parts.database, { companyId, dispatchId }, lease.runId)
    const learnt = await learn(parts, run, step).catch((error: unknown): Learnt => {
      parts.log.warn({ err: error, companyId, dispatchId }, 'a step in doubt could not be looked at')
      return {}
    })
    await conclude(parts, run, step, learnt)
  })
}

/** States in which a dispatch may have a step in doubt: a deferred one has no part in them. */
const settledStates: readonly DispatchStatus[] = ['succeeded', 'failed', 'partial', 'uncertain', 'cancelled']

async function conclude (parts: Parts, run: Run, step: RunStep, learnt: Learnt): Promise<void> {
  const { database, now } = parts
  const { companyId, dispatchId, runId } = run
  if (!('settlement' in learnt) || learnt.settlement.outcome === 'uncertain') {
    const planned = afterUncertain({ ...step, looks: step.looks + 1 }, now())
    const nextLookAt = 'later' in learnt && planned !== undefined && learnt.later < planned ? learnt.later : planned
    return postponeLook(database, { companyId, dispatchId, stepId: step.stepId, runId, error: inDoubt, nextLookAt: nextLookAt ?? null }, now())
  }
  const { settlement } = learnt
  await settleStep(database, { companyId, dispatchId, stepId: step.stepId, runId, actor: { kind: 'system' }, kind: 'reconciled' }, settlement, followingOf(parts, run, step, learnt), now())
}

function followingOf (parts: Parts, run: Run, step: RunStep, { settlement, again }: Extract<Learnt, { settlement: Settlement }>): Following {
  const now = parts.now()
  const tryAt = again === true ? retryAfter(step, now) : undefined
  if (step.deferredOn !== undefined) return tryAt === undefined ? {} : { nextTryAt: tryAt, also: parts.jobs.deferred(run, step, tryAt) }
  if (tryAt !== undefined) return { status: 'queued', nextTryAt: tryAt, also: parts.jobs.dispatch(run, tryAt) }
  const status = statusAfter(run, step, settlement, run.steps.map(({ result }) => result))
  if (status !== 'running') return { status, ...ended(parts, run, status) }
  return secondsSince(step.uncertainAt, now) > goesOn ? { status: 'partial', ...ended(parts, run, 'partial') } : { status: 'queued', also: parts.jobs.dispatch(run, now) }
}

/** What can be found out: by looking, by sending the same key again, or because nothing counts before a checkpoint that was not reached. */
async function learn (parts: Parts, run: Run, step: RunStep): Promise<Learnt> {
  const { by, service } = step
  const offered = by?.provider.manifest.services[service]
  if (by === undefined || offered === undefined) return {}
  const asked: ProviderStep = { ...step, by }
  const { idempotency, checkpoint: prepares } = offered
  const context = await contextOf(parts, run, asked)
  if (by.provider.verbs[service]?.lookup !== undefined) return look(parts, run, asked, context)
  if (prepares === true && context.outside.checkpoint.id === undefined) return unsent
  const isOpen = idempotency.kind === 'key' && secondsSince(step.uncertainAt, parts.now()) + (offered.timeLimit ?? longestCall) < idempotency.ttl
  return isOpen && by.provider.version === step.providerVersion ? { settlement: await repeatCall(parts, run, asked) } : {}
}

/** Seconds that a call may have taken before it was in doubt. */
const longestCall = 60

function secondsSince (time: Date | undefined, now: Date): number {
  return (now.getTime() - (time ?? now).getTime()) / 1000
}

async function look (parts: Parts, run: Run, step: ProviderStep, context: CallContext): Promise<Learnt> {
  const { by: { provider }, service, uncertainAt } = step
  const offered = provider.manifest.services[service]
  const visibleAfter = offered?.idempotency.kind === 'lookup' ? offered.idempotency.visibleAfter : 0
  const visible = new Date((uncertainAt ?? parts.now()).getTime() + visibleAfter * 1000)
  const { id: checkpoint } = context.outside.checkpoint
  const answer = await callLookup(provider, service, { reference: step.stepId, ...(checkpoint === undefined ? {} : { checkpoint }) }, context)
  if (!answer.ok) return {}
  switch (answer.found.found) {
    case 'accepted': return { settlement: { outcome: 'accepted', response: answer.found.response } }
    case 'rejected': return { settlement: { outcome: 'rejected', error: refusedBy(answer.found) } }
    case 'draft': return provider.version === step.providerVersion ? { settlement: await repeatCall(parts, run, step) } : {}
    case 'absent':
      if (parts.now() < visible) return { later: visible }
      // Before its checkpoint nothing counts: it may be sent again by itself. Any other miss is a person's or the client's to judge.
      return offered?.checkpoint === true && checkpoint === undefined ? unsent : { settlement: { outcome: 'unavailable', error: neverAccepted } }
  }
}

/** How a step in doubt reads, where nothing better is known. */
export const inDoubt: StepError = { word: 'outcome_unknown', message: 'The provider may have accepted the request: it must not be sent again before it is known what became of it.' }

const unsent: Learnt = { settlement: { outcome: 'unavailable', error: { word: 'provider_unavailable', message: 'The request was interrupted before the provider accepted anything.' } }, again: true }

const neverAccepted: StepError = { word: 'provider_unavailable', message: 'The provider was asked, and has not accepted the request: it is safe to send it again.' }

function refusedBy ({ code, message }: { code: string, message: string }): StepError {
  return { word: 'provider_error', message, details: [{ path: '', code, message }] }
}

/** A person's word on a step in doubt: what follows is as if it had been found out. Throws `conflict` when there is none. */
export async function resolveStep (parts: Parts, run: Run, { outcome, reason, actor, noted }: { outcome: 'accepted' | 'rejected', reason: string, actor: Run['actor'], noted: Enqueue }): Promise<void> {
  const step = [...run.steps, ...run.deferred].find(({ result }) => result.status === 'uncertain')
  if (step === undefined) throw new DispatchError('conflict', 'No step of the dispatch is uncertain: there is nothing to resolve.', { dispatchId: run.dispatchId })
  const settlement: Settlement = outcome === 'accepted' ? { outcome, response: null } : { outcome, error: { word: 'provider_error', message: `Resolved as rejected: ${reason}` } }
  const { companyId, dispatchId, runId } = run
  const following = followingOf(parts, run, step, { settlement })
  const also: Enqueue = async (queries) => {
    await noted(queries)
    await following.also?.(queries)
  }
  await settleStep(parts.database, { companyId, dispatchId, stepId: step.stepId, runId, actor, kind: 'resolved', facts: { reason } }, settlement, { ...following, also }, parts.now())
}
