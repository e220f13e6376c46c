import { type Accounts, isKeyValid, mayUse, sampleLink } from '@dispatch/accounts'
import { DispatchError, type ErrorWord } from '@dispatch/contract'
import { type Database, DatabaseUnavailable } from '@dispatch/database'
import { type ServiceName, services } from '@dispatch/services'
import { configurationUsed } from '../../configuration/sandbox.ts'
import type { Configurations } from '../../store/configuration/configurations.ts'
import type { DispatchRecord, StepRecord } from '../../store/dispatch/dispatch-views.ts'
import { holdStep, keyOfRequest } from '../../store/dispatch/runs.ts'
import type { Settlement } from '../../store/dispatch/steps.ts'
import type { RunResult } from '../respond/result.ts'
import type { Step } from '../step.ts'
import { waitForHours } from './hours.ts'
import { recheck, type RecheckDependencies } from './recheck.ts'
import type { Run } from './run.ts'
import { settle, type Settled, type SettleDependencies, settlementOfFailure } from './settle.ts'
import { runSteps, type StepDependencies } from './steps.ts'

/** What it takes to find out whether a scheduled dispatch may still be sent. */
export type DueDependencies = RecheckDependencies & { accounts: Accounts, publicUrl: string }

/** Whether a dispatch has waited for its time, and nothing of it was sent: it may have been tried. */
export function isScheduled ({ schedule, steps }: DispatchRecord): boolean {
  return schedule?.dueAt !== undefined && steps.every(({ status }) => ['planned', 'unavailable', 'waiting'].includes(status))
}

/**
 * Runs a dispatch whose time has come. What has changed since it was asked for is checked first, and its price is held: a fault ends it
 * before anything is made or sent, and its company is called back.
 */
export async function runDue (dependencies: StepDependencies & DueDependencies, record: DispatchRecord, run: Run): Promise<RunResult> {
  const [first] = run.steps
  if (first === undefined) return runSteps(dependencies, run)
  // Outside its hours it is not due yet.
  const end = await waitForHours(dependencies, run, first) ?? await refuse(dependencies, record, run, first)
  if (end === undefined) return runSteps(dependencies, run)
  const { dispatchId, test, metadata, createdAt, steps } = run
  return { dispatchId, test, metadata, createdAt, steps, ...end }
}

async function refuse (
  dependencies: DueDependencies & SettleDependencies,
  record: DispatchRecord,
  run: Run,
  first: Step
): Promise<Settled | undefined> {
  const refused = await refusalOf(dependencies, record, run)
  return refused && settle(dependencies, run, first, { settlement: refused, actor: { kind: 'system' } })
}

async function refusalOf (dependencies: DueDependencies, record: DispatchRecord, run: Run): Promise<Settlement | undefined> {
  try {
    await requireStill(dependencies, record, run)
    return undefined
  } catch (error) {
    if (error instanceof DatabaseUnavailable || (error instanceof DispatchError && error.word === 'conflict')) throw error
    if (!(error instanceof DispatchError && endsIt.has(error.word))) return settlementOfFailure(error)
    const { word, message, reason, details } = error
    return {
      outcome: 'rejected',
      error: { word, message, ...(reason === undefined ? {} : { reason }), ...(details === undefined ? {} : { details: [...details] }) }
    }
  }
}

/** What has changed for good. Whatever else fails, such as an adapter that is not loaded in this process, may go on later or elsewhere. */
const endsIt: ReadonlySet<ErrorWord> = new Set(['forbidden', 'template_not_found', 'configuration_missing', 'insufficient_credits',
  'budget_exceeded', 'validation_failed', 'validation_error', 'expectation_failed', 'suppressed'])

/** Throws the error with which the same request would be refused now. */
async function requireStill (
  dependencies: DueDependencies,
  record: DispatchRecord,
  { companyId, dispatchId, actor: { userId }, steps }: Run
): Promise<void> {
  const { accounts, database, templates, publicUrl } = dependencies
  const account = await accounts.byId(userId)
  await requireAsker(dependencies, record)
  for (const { service, by } of steps) {
    if (account === undefined || account.disabled || !mayUse(account, service)) {
      throw new DispatchError('forbidden', `The user who asked for it may not use the service "${service}" any more.`)
    }
    if (by !== undefined && by.provider === undefined) {
      throw new DispatchError('provider_unavailable', `The provider "${by.code}" is not installed any more.`)
    }
  }
  for (const row of record.steps.filter(({ deferred_on: deferredOn }) => deferredOn === null)) {
    const id = row.position === 0 ? record.template_id : row.template_id
    if (id !== null) await templates.find(companyId, { id })
    await requireConfiguration(dependencies, record, row)
    await recheck(dependencies, record, {
      step: row,
      fields: row.fields,
      made: services[row.service as ServiceName].template?.subject,
      ...(row.position > 0 ? { link: sampleLink(publicUrl) } : {})
    }).catch(unlessUnasked)
  }
  for (const { stepId, price } of steps) await holdStep(database, { companyId, dispatchId, stepId, price })
}

/** Throws where the API key of the request, or the person who impersonated its user, is no longer let in. */
async function requireAsker (
  { accounts, database }: { database: Database, accounts: Accounts },
  { company_id: companyId, dispatch_id: dispatchId, impersonator_id: impersonatorId }: DispatchRecord
): Promise<void> {
  const keyId = await keyOfRequest(database, { companyId, dispatchId })
  const isRevoked = keyId !== undefined && !await isKeyValid(database, companyId, keyId)
  const isGone = impersonatorId !== null && ((await accounts.byId(impersonatorId))?.disabled ?? true)
  if (isRevoked || isGone) throw new DispatchError('forbidden', 'The API key or the person that asked for it may not send any more.')
}

/** A provider that cannot be asked does not end the dispatch: the call waits for it, as any other does. */
function unlessUnasked (error: unknown): void {
  if (!(error instanceof DispatchError && error.word === 'provider_unavailable')) throw error
}

/** Throws where the configuration with which a step was planned is gone. No other one takes its place. */
async function requireConfiguration (
  { configurations }: { configurations: Configurations },
  { company_id: companyId, user_id: userId }: DispatchRecord,
  { provider_code: providerCode, configured_by: configuredBy }: StepRecord
): Promise<void> {
  if (providerCode === null || configuredBy === null) return
  if (configurationUsed(await configurations.latest(companyId), { providerCode, configuredBy, userId }) !== undefined) return
  throw new DispatchError('configuration_missing', `The configuration of the provider "${providerCode}" was removed.`)
}
