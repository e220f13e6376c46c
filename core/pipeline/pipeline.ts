import { requireSender, sampleLink } from '@dispatch/accounts'
import { canonicalJson, type Problem, withTimeLimit } from '@dispatch/common'
import { DispatchError, type DryRunView, dueMoment, isSince, presentable, refusal, usualVersion, type ValidationResponse,
  type WaitingView } from '@dispatch/contract'
import { requireBudget } from '@dispatch/credits'
import type { Database } from '@dispatch/database'
import { hash } from 'node:crypto'
import type { Directories } from '../configuration/directories.ts'
import { createConfigurationCheck } from '../configuration/vault.ts'
import type { Configurations } from '../store/configuration/configurations.ts'
import { type DispatchRecord, findDispatch, findIdempotencyKey } from '../store/dispatch/dispatch-views.ts'
import { IdempotencyKeyTaken, type NewDispatch } from '../store/dispatch/dispatches.ts'
import type { ApprovalDesk, ApprovalRuleRef, ApprovalSubject, BatchToApprove, PendingBatch, RowsToApprove } from './approval-desk.ts'
import { approvalRequired, approvalSubjectOf, approvedForRow, requireApproved, requireSeen, rulesForBatch, rulesForPlan,
  seenIn } from './approvals.ts'
import type { DispatchCommand } from './command.ts'
import { documentExpiry } from './document-expiry.ts'
import { keepFiles } from './enclosures.ts'
import { createExplanation, type Explain, type ExplanationDependencies } from './plan/explain.ts'
import { createPlanner, type DispatchPlan, type Planner, type PlannerDependencies, type PlannerOptions, validationOf } from './plan/plan.ts'
import { unknownRecipients } from './plan/unknown-recipients.ts'
import { type ActionDependencies, createDispatchActions, type DispatchActions } from './recover/dispatch-actions.ts'
import { resultOf, type RunResult } from './respond/result.ts'
import { type DryRunDependencies, dryRunOf } from './run/dry-run.ts'
import { type RehearsalDependencies, rehearse } from './run/rehearse.ts'
import { createRunner, type Runner, type RunnerDependencies } from './run/runner.ts'

/** The answer to a command. `replayed`: an earlier request with the same idempotency key made the dispatch. */
export type DispatchReply = { result: RunResult, replayed: boolean }
/** The same of a request that waits until somebody else has approved it. */
export type WaitingReply = { waiting: WaitingView, replayed: boolean }

/** What a dispatch would do now. `seen` stands for all of it; `asking`: the rules that want somebody else to approve it. */
export type Review = ValidationResponse & { seen: string, asking: readonly ApprovalRuleRef[] }

/** What a row of a batch would do, and what rules look at of it: nothing where it leaves nothing. */
export type CheckedRow = { answer: ValidationResponse, requested?: ApprovalSubject }

export type Pipeline =
  & DispatchActions
  & Pick<Runner, 'beginQueued' | 'drain'>
  & {
    /** Runs all checks of a dispatch. Nothing is recorded or sent. `lookUp`: directories are asked for recipients, and warnings tell. */
    validate: (command: DispatchCommand, how?: Lookup) => Promise<ValidationResponse>
    /** The same for whoever decides about it. */
    review: (command: DispatchCommand) => Promise<Review>
    /** The hash of what a review would say; no provider and no directory is asked for it. */
    seen: (command: DispatchCommand) => Promise<string>
    /** Validates a row of a batch, and says what it has to be approved for. */
    checkRow: (command: DispatchCommand) => Promise<CheckedRow>
    /** Tells what the first step of a dispatch would send. Nothing is recorded or sent. */
    dryRun: (command: DispatchCommand) => Promise<DryRunView>
    /**
     * Checks, records, renders, calls the provider and settles. Throws a DispatchError for whatever keeps a dispatch from being recorded:
     * `approval_required` where somebody else has to approve it.
     */
    dispatch: (command: DispatchCommand) => Promise<DispatchReply>
    /** The same, but what somebody else has to approve waits for that. */
    request: (command: DispatchCommand) => Promise<DispatchReply | WaitingReply>
    /** The rules that want an approval for a batch or one of its rows, which it has not got. `found` is asked where there are rules. */
    rulesForBatch: (batch: BatchToApprove, found: () => Promise<readonly RowsToApprove[]>) => Promise<readonly ApprovalRuleRef[]>
    /** Asks for an approval of a batch where rules want one: these, too. Answers whether it waits then. */
    askForBatch: (
      batch: PendingBatch,
      how: { found: () => Promise<readonly RowsToApprove[]>, also?: readonly ApprovalRuleRef[] }
    ) => Promise<boolean>
    explain: Explain
  }

type Lookup = { lookUp?: boolean }

/** `synchronousLimit`: seconds that a client waits for the end of a dispatch; `publicUrl`: where links lead. */
export type PipelineOptions = Omit<PlannerOptions, 'link' | 'problemsOf'> & { synchronousLimit: number, publicUrl: string }

/** Milliseconds that a client waits for a validation. */
const validationLimit = 10_000

type IdempotencyKey = NonNullable<NewDispatch['idempotency']>

/** What a request passes through. */
type Stages = { dependencies: StageDependencies, planner: Planner, runner: Runner }

/** What rehearsing a request and asking for its approval needs. */
type StageDependencies = RehearsalDependencies & { approvals: readonly ApprovalDesk[], directories: Pick<Directories, 'unknownIn'> }

/** What the stages take, and whatever else is done with a dispatch. */
export type PipelineParts =
  & PlannerDependencies
  & RunnerDependencies
  & DryRunDependencies
  & ActionDependencies
  & ExplanationDependencies
  & StageDependencies

/**
 * The way of a request: resolve → check → (recorded) render → dispatch → settle. Validation stops after the check. Throws the
 * `DispatchError`s that a client is answered, such as `validation_failed`, `timeout` and `idempotency_key_reused`.
 */
export function createPipeline (
  dependencies: PipelineParts,
  { synchronousLimit, publicUrl, ...options }: PipelineOptions
): Pipeline {
  const link = sampleLink(publicUrl)
  const problemsOf = createConfigurationCheck(dependencies.keyring, dependencies.log)
  const planner = createPlanner(dependencies, { ...options, link, problemsOf })
  const runner = createRunner(dependencies, { limit: synchronousLimit })
  return {
    ...createDispatchActions(dependencies, { resume: runner.resume, link }),
    validate: async (command, how = {}) => (await validate(dependencies, planner, command, how)).answer,
    review: (command) => review(dependencies, planner, command),
    seen: async (command) => seenIn(command, await planInTime(planner.plan(command, planner.read(command)))),
    checkRow: (command) => checkRow(dependencies, planner, command),
    dryRun: (command) => dryRunOf(dependencies, planner, command),
    async dispatch (command) {
      const reply = await dispatch({ dependencies, planner, runner }, command, refuseToWait)
      if ('waiting' in reply) throw approvalRequired(reply.waiting.rules.map((name) => ({ name })), 'it waits for that')
      return reply
    },
    request: (command) => dispatch({ dependencies, planner, runner }, command, waitFor),
    rulesForBatch: (batch, found) => rulesForBatch(dependencies, batch, found),
    askForBatch: (batch, how) => askForBatch(dependencies, batch, how),
    explain: createExplanation(dependencies, { link, offered: options.offered, problemsOf }),
    beginQueued: runner.beginQueued,
    drain: runner.drain
  }
}

type Validated = { answer: ValidationResponse, plan: DispatchPlan, asking: readonly ApprovalRuleRef[] }

async function validate (
  dependencies: StageDependencies,
  planner: Planner,
  command: DispatchCommand,
  { lookUp = false }: Lookup
): Promise<Validated> {
  const request = planner.read(command)
  const plan = await planInTime(planner.plan(command, request))
  const [rehearsal, unknown] = await Promise.all([
    rehearse(dependencies, plan, command, { extent: 'everything' }),
    lookUp ? unknownRecipients(dependencies, plan, command) : []
  ])
  const answer = validationOf(plan, rehearsal, command.version)
  refuseIfStrict(command, answer.warnings)
  await checkBudget(dependencies, command, plan)
  const asking = isSince('1.1.0', command.version ?? usualVersion) || command.approval !== undefined
    ? await rulesForPlan(dependencies, command, plan)
    : undefined
  return {
    answer: {
      ...answer,
      // A directory may be behind: what it does not know blocks nothing.
      ...unknown.length > 0 && { result: 'warning', warnings: [...answer.warnings, ...unknown] },
      ...asking !== undefined && { approval: { rules: asking.rules.map(({ name }) => name) } }
    },
    plan,
    asking: asking?.rules ?? []
  }
}

async function checkRow (dependencies: StageDependencies, planner: Planner, command: DispatchCommand): Promise<CheckedRow> {
  const { answer, plan } = await validate(dependencies, planner, command, {})
  const requested = await approvalSubjectOf(dependencies, command, plan)
  return { answer, ...requested !== undefined && { requested } }
}

async function review (dependencies: StageDependencies, planner: Planner, command: DispatchCommand): Promise<Review> {
  const { answer, plan, asking } = await validate(dependencies, planner, command, { lookUp: true })
  return { ...answer, seen: seenIn(command, plan), asking }
}

/** Budgets came with 1.1.0: before, a validation tells nothing of what a dispatch costs. */
async function checkBudget (
  { database }: { database: Database },
  { actor: { companyId, userId, key }, version = usualVersion }: DispatchCommand,
  { test, steps, schedule }: DispatchPlan
): Promise<void> {
  if (test || !isSince('1.1.0', version)) return
  await requireBudget(database, { companyId, userId, keyId: key?.id }, steps.reduce((sum, { price }) => sum + price, 0), schedule?.dueAt)
}

function refuseIfStrict ({ strict }: DispatchCommand, warnings: readonly Problem[]): void {
  if (strict === true && warnings.length > 0) throw refusal('validation_failed', warnings)
}

/** The plan of a validation. One that is late says nothing against the request. */
export async function planInTime<Plan> (plan: Promise<Plan>, limit = validationLimit): Promise<Plan> {
  return await withTimeLimit(limit, plan,
    () => new DispatchError('timeout', `The validation took longer than ${limit / 1000} seconds: try again later.`))
}

/** What becomes of a request that somebody else has to approve. */
type Waits = (
  stages: Stages,
  command: DispatchCommand,
  found: { requested: ApprovalSubject, rules: readonly ApprovalRuleRef[], key?: GivenKey }
) => Promise<WaitingView>

const refuseToWait: Waits = (_stages, _command, { rules }) => {
  throw approvalRequired(rules, 'ask for it by itself, with the header "x-api-version: 1.1.0"')
}

const waitFor: Waits = async ({ dependencies: { approvals } }, command, { requested, rules, key }) => {
  const [desk] = approvals
  if (desk === undefined || command.file !== undefined) throw approvalRequired(rules, 'a file that comes with its request cannot wait')
  return desk.keep({ command, requested, rules, ...key !== undefined && { key } })
}

async function askForBatch (
  dependencies: { approvals: readonly ApprovalDesk[] },
  batch: PendingBatch,
  { found, also = [] }: { found: () => Promise<readonly RowsToApprove[]>, also?: readonly ApprovalRuleRef[] }
): Promise<boolean> {
  const { approvals: [desk] } = dependencies
  if (desk === undefined) return false
  const asking = await rulesForBatch(dependencies, batch, found)
  const rules = [...also, ...asking.filter(({ id }) => !also.some((one) => one.id === id))]
  if (rules.length > 0) await desk.keepBatch({ ...batch, rules })
  return rules.length > 0
}

async function dispatch (stages: Stages, command: DispatchCommand, waits: Waits): Promise<DispatchReply | WaitingReply> {
  const progress = { recorded: false }
  try {
    requireSender(command.actor, command)
    return await beginOrRepeat(stages, command, waits, () => {
      progress.recorded = true
    })
  } catch (error) {
    // After any other error the dispatch may still be recorded. The retention job removes a file that belongs to no dispatch.
    progress.recorded ||= !(error instanceof DispatchError)
    throw error
  } finally {
    if (!progress.recorded) await command.file?.discard()
  }
}

/** The command with its file as a document of that dispatch, which may expire sooner than others. */
async function withExpiry (
  dependencies: { configurations: Configurations, now: () => Date },
  command: DispatchCommand,
  { request: { services } }: DispatchPlan
): Promise<DispatchCommand> {
  const { actor: { companyId }, file } = command
  if (file === undefined) return command
  const expiresAt = await documentExpiry(dependencies, companyId, services, dependencies.now())
  return { ...command, file: { ...file, document: { ...file.document, expiresAt } } }
}

/** `begun` is called once the dispatch is recorded, or once nobody can tell whether it is. */
async function beginOrRepeat (
  stages: Stages,
  command: DispatchCommand,
  waits: Waits,
  begun: () => void
): Promise<DispatchReply | WaitingReply> {
  const request = stages.planner.read(command)
  const begin = async (keyed: { idempotency?: GivenKey }): Promise<DispatchReply | WaitingReply> => {
    const plan = await stages.planner.plan(command, request)
    const found = await rehearse(stages.dependencies, plan, command, { extent: 'what is made later' })
    const warnings = presentable([...plan.warnings, ...found.warnings])
    refuseIfStrict(command, warnings)
    requireSeen(command, plan)
    const { dependencies: { approvals: [desk], shelves, now } } = stages
    const asking = await askingFor(stages.dependencies, command, plan)
    const waitsUntil = asking === undefined ? undefined : desk?.waitsUntil()
    const sentAt = plan.schedule?.dueAt === undefined ? now() : dueMoment(plan.schedule.dueAt)
    const keptUntil = waitsUntil !== undefined && waitsUntil > sentAt ? waitsUntil : sentAt
    await keepFiles(shelves, command.actor.companyId, [...plan.steps, ...plan.deferred], keptUntil)
    if (asking !== undefined) {
      const { idempotency: key } = keyed
      return { waiting: await waits(stages, command, { ...asking, ...key !== undefined && { key } }), replayed: false }
    }
    const kept = await withExpiry(stages.dependencies, command, plan)
    return { result: { ...await stages.runner.begin(kept, plan, { begun, ...keyed }), warnings }, replayed: false }
  }
  const idempotency = idempotencyOf(command)
  if (idempotency === undefined) return begin({})
  try {
    return await repeat(stages, command, idempotency) ?? await waitsAlready(stages, command, idempotency) ?? await begin({ idempotency })
  } catch (error) {
    // Another request with the same key was recorded after the key was looked up.
    const repeated = error instanceof IdempotencyKeyTaken ? await repeat(stages, command, idempotency) : undefined
    if (repeated === undefined) throw error
    return repeated
  }
}

/**
 * The idempotency key of a command, with a hash of what it is bound to: the services in the path and the value of the body, whatever the
 * order of its members. A request with a test key is another request than the same one with a live key, and so is one for the test
 * environments of the vendors.
 */
function idempotencyOf ({ actor, idempotencyKey: key, services, sandbox, body, file }: DispatchCommand):
  | GivenKey
  | undefined
{
  if (key === undefined) return undefined
  const given = file === undefined ? body : [body, file.document.sha256]
  const way = `${actor.key?.mode === 'test' ? 'test ' : ''}${sandbox === undefined ? '' : 'sandbox '}`
  const hashOf = (json: string): string => hash('sha256', `${way}${services.join('/')}\n${json}`)
  return { key, fingerprint: hashOf(canonicalJson(given)), asWritten: () => hashOf(JSON.stringify(given)) }
}

/** `asWritten`: the fingerprint of releases that kept the order of the members. Their keys are repeated after an upgrade. */
type GivenKey = IdempotencyKey & { readonly asWritten: () => string }

/** The rules for which a request waits: where it, or its batch, has its approval, those that have not asked for that. */
async function askingFor (
  dependencies: { approvals: readonly ApprovalDesk[], database: Database },
  command: DispatchCommand,
  plan: DispatchPlan
): ReturnType<typeof rulesForPlan> {
  const asking = await rulesForPlan(dependencies, command, plan)
  if (asking === undefined) return undefined
  const { approval } = command
  const had = approval !== undefined && 'approvalId' in approval ? approval.rules : await approvedForRow(dependencies, command, plan)
  const rules = asking.rules.filter(({ id }) => !had.includes(id))
  return rules.length === 0 ? undefined : { ...asking, rules }
}

/** Whether it is what somebody has just approved. */
function isApproved ({ approval }: DispatchCommand): boolean {
  return approval !== undefined && 'approvalId' in approval
}

/** The answer to a repeated request that waits for its approval. */
async function waitsAlready (
  { dependencies: { approvals: [desk] } }: Stages,
  command: DispatchCommand,
  key: GivenKey
): Promise<WaitingReply | undefined> {
  const waiting = desk === undefined || isApproved(command) ? undefined : await desk.waitingUnder(command.actor.companyId, key)
  return waiting && { waiting, replayed: true }
}

/** The answer to a repeated request; undefined when its key is new. A dispatch that was surely not sent goes on. */
async function repeat (
  { dependencies, runner }: Stages,
  command: DispatchCommand,
  given: GivenKey
): Promise<DispatchReply | undefined> {
  const { database } = dependencies
  const { actor, actor: { companyId }, mode, approval } = command
  const bound = await findIdempotencyKey(database, companyId, given.key)
  if (bound === undefined) return undefined
  const record = await repeatedDispatch(database, companyId, given, bound)
  const goesOn = isResumable(record)
  if (goesOn && !isApproved(command)) {
    await requireApproved(dependencies, record, {
      actor,
      ...approval !== undefined && 'batchId' in approval && { batch: approval }
    })
  }
  const result = goesOn ? await runner.resume(record, { actor, mode }) : resultOf(record)
  if (result === undefined) throw inProgress(bound.dispatchId)
  return { result, replayed: true }
}

/**
 * The dispatch of the first request with a key. Throws `idempotency_key_reused` when the two requests differ, and
 * `idempotency_in_progress` while the first client still waits for its answer.
 */
async function repeatedDispatch (
  database: Database,
  companyId: number,
  given: GivenKey,
  bound: { fingerprint: string, dispatchId: string }
): Promise<DispatchRecord> {
  const { dispatchId } = bound
  if (bound.fingerprint !== given.fingerprint && bound.fingerprint !== given.asWritten()) {
    throw new DispatchError('idempotency_key_reused',
      'This idempotency key was used with another request: take a new key for a new request.', { dispatchId })
  }
  const record = await findDispatch(database, companyId, dispatchId)
  if (record === undefined) throw new Error(`The dispatch ${dispatchId} of an idempotency key is gone.`)
  if (record.status === 'running' && !record.detached) throw inProgress(dispatchId)
  return record
}

function inProgress (dispatchId: string): DispatchError {
  return new DispatchError('idempotency_in_progress',
    'The first request with this idempotency key is still running; ask again in a moment.', { dispatchId })
}

/** Whether a repeated request lets the dispatch go on: no vendor has accepted anything, and a step was surely not sent. */
function isResumable (record: DispatchRecord): boolean {
  return record.status === 'failed' && record.data !== null && record.steps.some(({ status }) => status === 'unavailable')
}
