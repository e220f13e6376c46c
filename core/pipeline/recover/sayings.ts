import { canonicalJson } from '@dispatch/common'
import { type DeliveryStatus, DispatchError, dueMoment, isDeliveryService, refusal, type SaidLater, type SayingBody, sayingNames,
  type SayingState, type SayingsView, type SayingView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { callSay, canSay, clientWord, type InstalledProvider, lookUpSaid, type Said } from '@dispatch/host'
import { services } from '@dispatch/services'
import { addJobs, type EventActor, type PreparedJobs } from '@dispatch/tables'
import { hash } from 'node:crypto'
import { providerOfStep } from '../../configuration/serving.ts'
import type { DispatchRecord, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import { findDispatch } from '../../store/dispatch/dispatch-views.ts'
import type { TransactionHook } from '../../store/dispatch/lease.ts'
import type { TrackedStep } from '../../store/vendor/deliveries.ts'
import { beginSaying, endSaying, listSayings, type SayingEnd, type SayingPoll, type SayingRecord } from '../../store/vendor/sayings.ts'
import type { PipelineJobs } from '../jobs.ts'
import type { Outbox } from '../outbox.ts'
import { recordedData } from '../plan/recorded-template.ts'
import type { RecipientBook } from '../recipients.ts'
import type { ProviderDependencies } from '../run/installed.ts'
import { type AfterwardsDependencies, busyError, contextAfterwards, whileHeld } from './afterwards.ts'
import { createStatusChangeHandler } from './status-change.ts'

/** A step whose vendor can be told something of it, and the codes of what may be said now. */
type SayableStep = { row: StepRecord, step: TrackedStep, provider: InstalledProvider, codes: readonly string[] }

/** What was said of a dispatch, and what may be said of it now. */
export async function sayingsOf (
  dependencies: ProviderDependencies & { database: Database },
  record: DispatchRecord
): Promise<SayingsView> {
  const found = await sayableStep(dependencies, record)
  const said = await listSayings(dependencies.database, refOf(record))
  return { data: said.map(viewOf), sayable: [...found?.codes ?? []] }
}

/**
 * Says something of an accepted dispatch at its vendor, once: the same said again is found, and sent again only if the vendor has certainly
 * not got it. Throws `conflict` where it cannot be said, `validation_failed` where it breaks a rule, and the failure of the vendor.
 */
export async function sayOf (
  dependencies: AfterwardsDependencies,
  record: DispatchRecord,
  { body, actor, audited }: { body: SayingBody, actor: EventActor, audited: TransactionHook }
): Promise<SayingView> {
  const ref = refOf(record)
  const found = await sayableStep(dependencies, record)
  if (found === undefined) {
    throw new DispatchError('conflict', 'Of this dispatch nothing can be said: no platform of e-invoices has accepted it.', ref)
  }
  const statusId = messageId(found.step.stepId, body)
  const ended = await whileHeld(dependencies, record, async (runId) => {
    const before = (await listSayings(dependencies.database, ref)).find((one) => one.statusId === statusId)
    if (before?.kind === 'said') return
    if (!found.codes.includes(body.code)) {
      const message = `The status ${body.code} cannot be said now: ${found.codes.length === 0 ? 'nothing' : found.codes.join(', ')} can.`
      throw new DispatchError('conflict', message, ref)
    }
    await say(dependencies, { record, found, statusId, before, body }, { runId, actor, audited })
  })
  if (ended === 'busy') throw busyError(ref.dispatchId)
  const said = (await listSayings(dependencies.database, ref)).find((one) => one.statusId === statusId)
  if (said === undefined) throw new Error(`The status ${statusId} of a dispatch is gone.`)
  return viewOf(said)
}

type SayingRequest = { record: DispatchRecord, found: SayableStep, statusId: string, before: SayingRecord | undefined, body: SayingBody }

async function say (
  dependencies: AfterwardsDependencies,
  { record, found, statusId, before, body }: SayingRequest,
  { runId, actor, audited }: { runId: string, actor: EventActor, audited: TransactionHook }
): Promise<void> {
  const { step, provider } = found
  const { dispatchId } = step
  const context = await contextAfterwards(dependencies, found, { runId, reference: statusId, idempotencyKey: statusId })
  const end = (how: SayingEnd, more: How = {}): Promise<void> => endOf(dependencies, { record, found, statusId }, how, more)
  if (before?.kind === 'saying' || before?.kind === 'say_unknown') {
    const known = await lookUpSaid(provider, step.service, before, context)
    if (known.is === 'there') return end('said', { remoteId: known.remoteId })
    // It is in doubt, and nothing new was learnt.
    if (known.is === 'unknown') throw new DispatchError('outcome_unknown', `${known.message} ${askAgain}`, { dispatchId })
    if (known.is === 'refused') {
      await end('not_said', { message: known.message })
      throw notTaken(known.message, dispatchId)
    }
  }
  const { saying, said } = wordsOf(dependencies, { record, found, statusId, before, body })
  if (!await beginSaying(dependencies.database, step, {
    runId,
    statusId,
    saying,
    actor,
    audited,
    jobs: lookLater(dependencies, step, statusId)
  })) {
    throw new DispatchError('conflict', 'The dispatch was lost to another process: try again in a moment.', {
      reason: 'being_done',
      dispatchId
    })
  }
  const result = await callSay(provider, step.service, said, context)
  const failed = result.outcome === 'said' ? undefined : result
  const how = failed === undefined ? 'said' : failed.outcome === 'uncertain' ? 'say_unknown' : 'not_said'
  await end(how, result.outcome === 'said' ? { remoteId: result.response.id } : { message: result.error.message }).catch(
    (cause: unknown) => {
      throw new DispatchError('outcome_unknown', `What came of it could not be recorded. ${askAgain}`, { dispatchId, cause })
    }
  )
  if (failed === undefined) return
  const { error: { word, message, retryAfter } } = failed
  if (how === 'say_unknown') throw new DispatchError('outcome_unknown', `${message} ${askAgain}`, { dispatchId })
  if (word === 'provider_error') throw notTaken(message, dispatchId)
  throw new DispatchError(clientWord(word), message, { dispatchId, ...(retryAfter !== undefined && { retryAfter }) })
}

function notTaken (why: string, dispatchId: string): DispatchError {
  return new DispatchError('conflict', `The provider does not take it: ${why}`, { dispatchId })
}

const askAgain = 'Saying the same once more finds out what became of it, and says it at most once.'

/**
 * Asks the vendor later what became of something that was said: its process may have ended, its answer may be lost, and platforms check
 * what they have taken. What has certainly not been taken may be said again.
 */
export async function followSaying (
  dependencies: AfterwardsDependencies,
  { companyId, dispatchId, statusId, look }: SayingPoll
): Promise<void> {
  const ref = { companyId, dispatchId }
  const record = await findDispatch(dependencies.database, companyId, dispatchId)
  const found = record && await sayableStep(dependencies, record)
  if (record === undefined || found === undefined) return
  const end = await whileHeld(dependencies, record, async (runId) => {
    const before = (await listSayings(dependencies.database, ref)).find((one) => one.statusId === statusId)
    if (before === undefined || before.kind === 'not_said') return 'over'
    const context = await contextAfterwards(dependencies, found, { runId, reference: statusId, idempotencyKey: statusId })
    const known = await lookUpSaid(found.provider, found.step.service, before, context)
    if (known.is === 'unknown' || (before.kind === 'said' && known.is !== 'refused')) return 'open'
    const { is, ...how } = known
    await endOf(dependencies, { record, found, statusId }, is === 'there' ? 'said' : 'not_said', how)
    return is === 'there' ? 'open' : 'over'
  })
  if (end === 'over' || look + 1 >= pollDelays.length) return
  await dependencies.database.company(companyId, (queries) => addJobs(queries, lookLater(dependencies, found.step, statusId, look + 1)))
}

/** Seconds after which it is asked what became of something that was said. */
const pollDelays = [15 * 60, 3600, 24 * 3600] as const

function lookLater (
  { jobs }: { jobs: PipelineJobs },
  { companyId, dispatchId }: TrackedStep,
  statusId: string,
  look = 0
): PreparedJobs {
  return jobs.saying({ companyId, dispatchId, statusId, look }, pollDelays[look] ?? 0)
}

type How = { message?: string, remoteId?: string }

/**
 * Notes how something that was said has ended. The delivery status becomes what all that the vendor has makes it; without what the vendor
 * takes back it is what it was before.
 */
async function endOf (
  dependencies: { database: Database, jobs: PipelineJobs, recipients: readonly RecipientBook[], outbox: Outbox },
  { record, found: { row, step }, statusId }: Pick<SayingRequest, 'record' | 'found' | 'statusId'>,
  end: SayingEnd,
  how: How
): Promise<void> {
  const sayings = await listSayings(dependencies.database, refOf(record))
  const ended = sayings.find((one) => one.statusId === statusId)
  if (ended === undefined) throw new Error(`The status ${statusId} of a dispatch is gone.`)
  const said = sayings.filter((one) => one === ended ? end === 'said' : one.kind === 'said').map(({ saying }) => saying)
  const becomes = services[step.service].says?.becomes(row.fields, recordedData(record, row) ?? undefined, said)
  await endSaying(dependencies.database, step, {
    statusId,
    code: ended.saying.code,
    end,
    ...how,
    becomes: becomes as DeliveryStatus | undefined,
    isTakenBack: ended.kind === 'said' && end === 'not_said',
    moved: createStatusChangeHandler(dependencies)
  })
}

/** What is said, and as the provider is handed it. */
function wordsOf (
  { now }: { now: () => Date },
  { record, found: { row, step }, statusId, before, body }: SayingRequest
): { saying: SaidLater, said: Said } {
  const data = recordedData(record, row)
  const says = services[step.service].says
  if (data === null || says === undefined) {
    throw new DispatchError('document_expired', 'The data of the invoice are no longer kept: say it at the platform itself.', refOf(record))
  }
  const time = now()
  const { at = time.toISOString(), ...rest } = { ...before?.saying, ...body }
  const moment = momentOf(at)
  if (moment === undefined || moment > time) {
    const message = moment === undefined ? 'This is no time.' : 'This is still to come: say it when it has come to be.'
    throw refusal('validation_failed', [{ path: '/at', code: moment === undefined ? 'format' : 'in_the_future', message }])
  }
  const saying: SaidLater = { ...rest, at: moment.toISOString() }
  const made = says.of(row.fields, data, saying, { id: statusId, issued: time.toISOString() })
  if (made.said === undefined) throw refusal('validation_failed', made.problems)
  return { saying, said: { id: step.remoteId, code: body.code, ...made.said } }
}

function momentOf (at: string): Date | undefined {
  try {
    return dueMoment(at)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The same statement about the same step has the same id, whoever makes it and however often. */
function messageId (stepId: string, body: SayingBody): string {
  const hex = hash('sha256', `${stepId}\n${canonicalJson(body)}`)
  // A UUID of version 8: of our own making.
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join('-')
}

async function sayableStep (
  dependencies: ProviderDependencies,
  record: DispatchRecord
): Promise<SayableStep | undefined> {
  for (const row of record.steps) {
    const { service, remote_id: remoteId, provider_code: providerCode, configured_by: configuredBy } = row
    if (row.status !== 'accepted' || !isDeliveryService(service)) continue
    if (remoteId === null || providerCode === null || configuredBy === null) continue
    const codes = services[service].says?.codes(row.fields, row.delivery_status) ?? []
    const step: TrackedStep = {
      stepId: row.step_id,
      ...refOf(record),
      userId: record.user_id,
      service,
      providerCode,
      configuredBy,
      sandbox: row.sandbox,
      remoteId
    }
    const provider = await providerOfStep(dependencies, { ...step, code: providerCode })
    if (provider !== undefined && canSay(provider, service)) return { row, step, provider, codes }
  }
  return undefined
}

function refOf ({ company_id: companyId, dispatch_id: dispatchId }: DispatchRecord): { companyId: number, dispatchId: string } {
  return { companyId, dispatchId }
}

const states: Record<SayingRecord['kind'], SayingState> = {
  saying: 'asked',
  said: 'said',
  not_said: 'refused',
  say_unknown: 'uncertain'
}

function viewOf ({ statusId, kind, saying: { code, at, amounts, reason }, message, requestedAt: requested }: SayingRecord): SayingView {
  return {
    statusId,
    code,
    name: sayingNames[code] ?? code,
    at,
    ...(amounts !== undefined && { amounts: [...amounts] }),
    ...(reason !== undefined && { reason }),
    state: states[kind],
    ...(kind !== 'said' && message !== null && { message }),
    askedAt: requested.toISOString()
  }
}
