import type { Actor } from '@dispatch/accounts'
import { canonicalJson } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { type ServiceName, services } from '@dispatch/services'
import { hash } from 'node:crypto'
import type { DispatchRecord } from '../store/dispatch/dispatch-views.ts'
import type { Replacement } from '../store/dispatch/runs.ts'
import { amountIn, type AmountStep, foundInGiven, largestOf } from './amounts.ts'
import type { ApprovalDesk, ApprovalRuleRef, ApprovalSubject, BatchToApprove, RowsToApprove } from './approval-desk.ts'
import type { DispatchCommand } from './command.ts'
import type { DispatchPlan } from './plan/plan.ts'
import { recordedData } from './plan/recorded-template.ts'

/** A step as the rules see it. */
type StepToApprove = AmountStep & { price: number, hasProvider: boolean }

type Sources = { approvals: readonly ApprovalDesk[], database: Database }

/**
 * The rules that want an approval for a plan: none for a test, for what leaves nothing, and for what the service itself sends and another
 * person has prepared. Throws `approval_required` where the same person has: nothing of it can wait.
 */
export async function rulesForPlan (
  sources: Sources,
  command: DispatchCommand,
  plan: DispatchPlan
): Promise<{ requested: ApprovalSubject, rules: readonly ApprovalRuleRef[] } | undefined> {
  const { actor: { userId }, preparedBy } = command
  if (plan.test || (preparedBy !== undefined && preparedBy !== userId)) return undefined
  const found = await rulesOf(sources, aboutOf(command, plan), stepsOf(plan))
  if (found !== undefined && preparedBy !== undefined) throw approvalRequired(found.rules, 'somebody else than its maker has to send it')
  return found
}

/** What rules would look at in a plan, also where there are none; undefined where nothing of it leaves. */
export async function approvalSubjectOf (
  { database }: Pick<Sources, 'database'>,
  command: DispatchCommand,
  plan: DispatchPlan
): Promise<ApprovalSubject | undefined> {
  const steps = stepsOf(plan)
  return steps.some(({ hasProvider }) => hasProvider) ? await factsOf(database, aboutOf(command, plan), steps) : undefined
}

const stepsOf = ({ steps, deferred }: DispatchPlan): StepToApprove[] =>
  [...steps, ...deferred].map(({ service, fields, template, price, by }) => ({
    service,
    fields,
    data: template?.data,
    price,
    hasProvider: by !== undefined
  }))

type About = Pick<ApprovalSubject, 'actor' | 'rows' | 'recipient'> & { credits?: number }

function aboutOf ({ actor, approval }: DispatchCommand, { facts: { recipient } }: DispatchPlan): About {
  return {
    actor,
    ...approval !== undefined && 'batchId' in approval && { rows: approval.rows, credits: approval.credits },
    ...recipient !== undefined && { recipient }
  }
}

async function rulesOf (
  { approvals, database }: Sources,
  about: About,
  steps: readonly StepToApprove[]
): Promise<{ requested: ApprovalSubject, rules: readonly ApprovalRuleRef[] } | undefined> {
  if (approvals.length === 0 || !steps.some(({ hasProvider }) => hasProvider)) return undefined
  let found: Promise<ApprovalSubject> | undefined
  const requested = (): Promise<ApprovalSubject> => found ??= factsOf(database, about, steps)
  const rules = (await Promise.all(approvals.map((desk) => desk.rulesFor(about, async () => [await requested()])))).flat()
  return rules.length === 0 ? undefined : { requested: await requested(), rules }
}

async function factsOf (
  database: Sources['database'],
  { credits: together = 0, ...about }: About,
  steps: readonly StepToApprove[]
): Promise<ApprovalSubject> {
  const sending = steps.filter(({ hasProvider }) => hasProvider)
  const given = await foundInGiven(database, about.actor.companyId, steps)
  const amount = largestOf([amountIn(steps), ...given.amounts])
  return {
    ...about,
    services: [...new Set([...sending.map(({ service }) => service), ...given.services])],
    credits: Math.max(together, sending.reduce((sum, { price }) => sum + price, 0)),
    recipients: Math.max(1, ...sending.map(({ service, fields }) => services[service].recipients?.in(fields).length ?? 1)),
    ...amount !== undefined && { amount }
  }
}

/** The rules that want an approval for a batch which it has not got: for all of it, or for one of its rows. */
export async function rulesForBatch (
  { approvals }: Pick<Sources, 'approvals'>,
  { actor, batchId, rows, credits, checkedAt }: BatchToApprove,
  found: () => Promise<readonly RowsToApprove[]>
): Promise<readonly ApprovalRuleRef[]> {
  const about = { actor, rows }
  const requested = async (): Promise<ApprovalSubject[]> => (await found()).map((some) => ({ ...about, credits, ...some }))
  const rules = (await Promise.all(approvals.map((desk) => desk.rulesFor(about, requested)))).flat()
  // Whoever approved it before its rows were checked has not seen those that were refused until then.
  if (rules.length === 0 || checkedAt === null) return rules
  const had = (await Promise.all(approvals.map((desk) => desk.approvedBy(actor.companyId, { batchId, since: checkedAt })))).flat()
  return rules.filter(({ id }) => !had.includes(id))
}

/**
 * A hash of what would come of a request: of the request itself, its templates with the brand of the company, its providers and its
 * prices. Whoever approves it sends the hash of what they have seen. All providers of a list that can do it count: the first is drawn.
 */
export function seenIn ({ services: path, body }: DispatchCommand, { steps, deferred, facts: { recipient = '' } }: DispatchPlan): string {
  const parts = [...steps, ...deferred].map(({ service, by, price, able, template, deferredOn = '' }) => ({
    service,
    providers: (able ?? [{ code: by?.code ?? '', sandbox: by?.sandbox ?? false, price }]).map((one) =>
      [one.code, one.sandbox, one.price].join(' ')
    ).toSorted(),
    template: template === undefined ? [] : [template.template.id, template.template.version, template.template.brand?.version ?? 0],
    deferredOn
  }))
  return hash('sha256', canonicalJson({ path, body, recipient, parts }), 'base64url')
}

/** Throws `conflict` where another dispatch would come of a request than its sender has seen. */
export function requireSeen (command: DispatchCommand, plan: DispatchPlan): void {
  if (command.seen === undefined || command.seen === seenIn(command, plan)) return
  throw new DispatchError('conflict',
    'Another dispatch would come of it now than was shown, because a template, a provider or a price has changed: look again.', {
    reason: 'changed_meanwhile'
  })
}

/** The rules by which the batch of a row was approved since its rows were checked, and what the row is made of has changed last. */
export async function approvedForRow (
  { approvals }: { approvals: readonly ApprovalDesk[] },
  { actor: { companyId }, approval }: DispatchCommand,
  { steps, deferred }: DispatchPlan
): Promise<readonly string[]> {
  if (approval === undefined || !('batchId' in approval) || approval.checkedAt === null) return []
  const { batchId, checkedAt } = approval
  const changes = [...steps, ...deferred].flatMap(({ template: { template } = {} }) => [
    ...template === undefined ? [] : [template.inUseSince ?? template.updatedAt],
    ...template?.brand?.inUseSince === undefined ? [] : [template.brand.inUseSince]
  ])
  const since = changes.reduce((last, one) => one > last ? one : last, checkedAt)
  return (await Promise.all(approvals.map((desk) => desk.approvedBy(companyId, { batchId, since })))).flat()
}

/** The batch of a row, with its rows and its price. */
export type RowOfBatch = Extract<NonNullable<DispatchCommand['approval']>, { batchId: string }>

/** Who lets a recorded dispatch go on. `batch`: for the batch that it belongs to. */
type GoingOn = { actor: Actor, batch?: RowOfBatch | undefined, replacement?: Replacement | undefined }

/**
 * Throws `approval_required` where a rule wants an approval of a recorded dispatch that it has not. With other fields it is another one
 * than was approved.
 */
export async function requireApproved (
  sources: Sources,
  record: DispatchRecord,
  { actor, batch, replacement }: GoingOn
): Promise<void> {
  const { approvals } = sources
  if (approvals.length === 0 || record.test) return
  const { company_id: companyId, dispatch_id: dispatchId, recipient } = record
  const about = {
    actor,
    ...batch !== undefined && { rows: batch.rows, credits: batch.credits },
    ...recipient !== null && { recipient }
  }
  const found = await rulesOf(sources, about, record.steps.map((step) => ({
    service: step.service as ServiceName,
    fields: step.step_id === replacement?.stepId ? replacement.fields : step.fields,
    data: recordedData(record, step) ?? undefined,
    price: step.price,
    hasProvider: step.provider_code !== null
  })))
  if (found === undefined) return
  if (replacement !== undefined) throw approvalRequired(found.rules, 'with other data it is another dispatch: send it anew')
  const of = [{ dispatchId }, ...batch === undefined ? [] : [{ batchId: batch.batchId }]]
  const had = (await Promise.all(approvals.flatMap((desk) => of.map((one) => desk.approvedBy(companyId, one))))).flat()
  const rules = found.rules.filter(({ id }) => !had.includes(id))
  if (rules.length > 0) throw approvalRequired(rules, 'send it anew')
}

/** The refusal of what somebody else has to approve, by these rules. */
export class ApprovalRequired extends DispatchError {
  readonly rules: readonly Partial<ApprovalRuleRef>[]

  constructor (message: string, rules: ApprovalRequired['rules']) {
    super('approval_required', message)
    this.rules = rules
  }
}

/** The same, where it cannot wait for that. */
export function approvalRequired (rules: readonly Partial<ApprovalRuleRef>[], instead: string): ApprovalRequired {
  const names = rules.map(({ name = '' }) => `"${name}"`).join(', ')
  return new ApprovalRequired(`Somebody else has to approve this (${names}), and nothing was sent: ${instead}.`, rules)
}
