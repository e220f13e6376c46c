import { type Actor, type AuditAuthor, noteAudit, type RecordedActor } from '@dispatch/accounts'
import { DispatchError, type WaitingView } from '@dispatch/contract'
import type { ApprovalDesk, ApprovalRuleRef, ApprovalSubject, KeptRequest, PendingBatch } from '@dispatch/core'
import type { Database, Freshness } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { maxWaiting } from '../contract/approvals.ts'
import { addApproval, approvedBy, findByKey } from '../store/approvals.ts'
import { createPolicies, type Rule } from '../store/rules.ts'
import type { ApprovalRow, StoredFacts, StoredRule } from '../store/tables.ts'

export const approvalDesk = token<ApprovalDesk>('approvalDesk')

/** Milliseconds until what nobody has decided about expires. */
export const lasts = 7 * 86_400_000

type Needs = {
  database: Database
  freshness: Freshness
  publicUrl: string
  newId: () => string
  now: () => Date
}

/** The dependencies of the desk, with the rules of each company. */
type Desk = Needs & { policies: ReturnType<typeof createPolicies> }

/** The questions of the pipeline about approvals. */
export function createApprovalDesk (needs: Needs): ApprovalDesk {
  const { database, freshness, now } = needs
  const desk: Desk = { ...needs, policies: createPolicies(database, freshness) }

  return {
    rulesFor: (about, requested) => rulesFor(desk, about, requested),
    waitingUnder: (companyId, key) => waitingUnder(desk, companyId, key),
    keep: (kept) => keep(desk, kept),
    keepBatch: (kept) => keepBatch(desk, kept),
    approvedBy: (companyId, of) => approvedBy(database, companyId, of),
    waitsUntil: () => new Date(now().getTime() + lasts)
  }
}

/** The answer to whoever has asked for what waits. */
const waitingOf = ({ publicUrl }: Pick<Desk, 'publicUrl'>, row: ApprovalRow, metadata: WaitingView['metadata']): WaitingView => ({
  success: true,
  status: 'approval_required',
  approvalId: row.approval_id,
  rules: row.rules.map(({ name }) => name),
  statusUrl: `${publicUrl}/api/v1/approvals/${row.approval_id}`,
  expiresAt: row.expires_at.toISOString(),
  metadata
})

const metadataOf = (body: unknown): WaitingView['metadata'] => (body as { metadata?: WaitingView['metadata'] } | null)?.metadata ?? {}

/** Of several rules, each has its approvers. */
async function storedRules (
  { policies }: Pick<Desk, 'policies'>,
  companyId: number,
  ids: readonly { id: string }[]
): Promise<StoredRule[]> {
  const { rules } = await policies.of(companyId)
  return rules.filter(({ id }) => ids.some((one) => one.id === id))
    .map(({ id, name, approvers = [] }) => ({ id, name, approvers }))
}

/** Keeps what waits, and tells the audit log. Throws `rate_limited` where too much of the company waits. */
async function add (
  desk: Desk,
  requested: { actor: Actor, requestId: string, rules: readonly { id: string }[] },
  more: Pick<Parameters<typeof addApproval>[1], 'services' | 'command' | 'facts'> & Partial<Parameters<typeof addApproval>[1]>
): Promise<ApprovalRow | 'over'> {
  const { database, newId, now } = desk
  const { actor, requestId } = requested
  const { companyId } = actor
  const [approvalId, at, rules] = [newId(), now(), await storedRules(desk, companyId, requested.rules)]
  // A rule that is gone in this moment has asked for it all the same: then the admins decide.
  const kept = rules.length > 0 ? rules : requested.rules.map(({ id }) => ({ id, name: '', approvers: [] }))
  const row = await addApproval(database, {
    ...more,
    approvalId,
    asker: recordOf(actor),
    rules: kept,
    at,
    expiresAt: new Date(at.getTime() + lasts)
  }, (queries) =>
    noteAudit(queries, {
      companyId,
      author: authorOf(actor, requestId),
      at,
      action: 'approval.requested',
      object: { kind: 'approval', id: approvalId },
      facts: { rules: kept.map(({ name }) => name) }
    }))
  if (row !== undefined) return row
  throw new DispatchError('rate_limited', `${maxWaiting} requests of the company wait for an approval: somebody decides about them first.`,
    {
      retryAfter: 60
    })
}

/** What waits under an idempotency key already. Throws where the key is used up, or was used with another request. */
async function waitingUnder (
  desk: Desk,
  companyId: number,
  { key, fingerprint }: { key: string, fingerprint: string }
): Promise<WaitingView | undefined> {
  const { database, now, policies } = desk
  // Without rules nothing is added: no key of another time is looked for.
  const { rules, hasKeys } = await policies.of(companyId)
  if (rules.length === 0 && !hasKeys) return undefined
  const row = await findByKey(database, companyId, key)
  if (row === undefined) return undefined
  if (row.fingerprint !== fingerprint) {
    throw new DispatchError('idempotency_key_reused',
      'This idempotency key was used with another request: take a new key for a new request.')
  }
  if (row.status !== 'waiting' && row.status !== 'sending' || row.status === 'waiting' && row.expires_at <= now()) {
    const status = row.status === 'waiting' ? 'expired' : row.status
    throw new DispatchError('approval_required',
      `The approval of this request is ${status}: with a new idempotency key it is asked for again.`)
  }
  return waitingOf(desk, row, metadataOf(row.request))
}

/** Those rules that want somebody else to approve it. */
async function rulesFor (
  { freshness, policies }: Pick<Desk, 'freshness' | 'policies'>,
  { actor, rows }: Pick<ApprovalSubject, 'actor' | 'rows'>,
  requested: () => Promise<readonly ApprovalSubject[]>
): Promise<readonly ApprovalRuleRef[]> {
  if (rows !== undefined) await freshness.check()
  const { rules } = await policies.of(actor.companyId)
  if (rules.length === 0) return []
  const facts = await requested()
  return rules.filter((rule) => facts.some((one) => asksFor(rule, one))).map(({ id, name }) => ({ id, name }))
}

async function keep (desk: Desk, { command, requested, rules, key }: KeptRequest): Promise<WaitingView> {
  const { actor, services, body, requestId, version, strict, sandbox } = command
  const row = await add(desk, { actor, requestId, rules }, {
    services,
    request: body,
    command: { requestId, ...version && { version }, ...strict && { strict }, ...sandbox && { sandbox } },
    facts: factsOf(requested),
    ...key !== undefined && { key: { key: key.key, fingerprint: key.fingerprint } }
  })
  if (row === 'over') throw new Error('A request by itself has no batch.')
  if (key !== undefined && row.fingerprint !== key.fingerprint) {
    throw new DispatchError('idempotency_key_reused',
      'This idempotency key was used with another request: take a new key for a new request.')
  }
  return waitingOf(desk, row, metadataOf(body))
}

async function keepBatch (
  desk: Desk,
  { actor, batchId, services, rows, credits, requestId, rules, totals, pause }: PendingBatch & { rules: readonly ApprovalRuleRef[] }
): Promise<void> {
  const facts = { rows, credits, totals: await totals() }
  await add(desk, { actor, requestId, rules }, { batchId, services, command: { requestId }, facts, pause })
}

/** Whether a rule wants somebody else to approve it. */
function asksFor ({ services, exempt = [], ...rule }: Rule, { actor, ...requested }: ApprovalSubject): boolean {
  if (services !== undefined && !services.some((name) => requested.services.includes(name))) return false
  const isThemselves = actor.key === undefined && actor.impersonatorId === undefined
  if (isThemselves && exempt.includes(actor.userId)) return false
  const { amountAbove, currency, creditsAbove, recipientsAbove, rowsAbove } = rule
  const conditions = [
    amountAbove !== undefined && isAbove(requested.amount, amountAbove, currency),
    creditsAbove !== undefined && requested.credits > creditsAbove,
    recipientsAbove !== undefined && requested.recipients > recipientsAbove,
    rowsAbove !== undefined && (requested.rows ?? 0) > rowsAbove
  ]
  return [amountAbove, creditsAbove, recipientsAbove, rowsAbove].every((one) => one === undefined) || conditions.includes(true)
}

function isAbove (amount: ApprovalSubject['amount'], limit: number, currency: string | undefined): boolean {
  if (amount === undefined) return false
  return amount === 'unknown' || amount.value > limit || (currency !== undefined && amount.currency !== currency)
}

function factsOf ({ recipient, amount, credits }: ApprovalSubject): StoredFacts {
  const { value, currency } = amount === undefined || amount === 'unknown' ? {} : amount
  return {
    credits,
    ...recipient !== undefined && { recipient },
    ...value !== undefined && { amount: value },
    ...currency !== undefined && { currency }
  }
}

function recordOf ({ companyId, userId, impersonatorId, key, services }: Actor): RecordedActor {
  return { companyId, userId, impersonatorId: impersonatorId ?? null, key: key ?? null, permitted: services }
}

function authorOf ({ companyId, userId, impersonatorId, key }: Actor, requestId: string): AuditAuthor {
  return {
    companyId,
    userId,
    requestId,
    address: '',
    ...impersonatorId !== undefined && { impersonatorId },
    ...key !== undefined && { keyId: key.id }
  }
}
