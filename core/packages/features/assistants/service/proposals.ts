import type { Actor, AuditAuthor } from '@dispatch/accounts'
import { canonicalJson, type Log } from '@dispatch/common'
import { chainFault, DispatchError, latestVersion, type ServicePath } from '@dispatch/contract'
import type { Pipeline } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { runEvery } from '@dispatch/queue'
import { serviceNames } from '@dispatch/services'
import type { NewProposalBody, ProposalReview, ProposalSummary, ProposalView } from '../contract/proposals.ts'
import { addProposal, type Circle, decide, listProposals, maxOpen, type ProposalRow, readProposal, removeOldProposals,
  type SummaryRow } from '../store/proposals.ts'

/** Who asks, and by which request. */
export type Asker = { actor: Actor, requestId: string }
/** The same, for what the audit log notes. */
export type Decider = Asker & { author: AuditAuthor }

/**
 * Dispatches that an assistant has asked for, each kept as it was asked for until a person sends or declines it. Nothing changes one.
 */
export type Proposals = {
  /**
   * Validates the request first, and throws what a dispatch of it would. Throws `conflict` where too many are open. The same again under
   * the same idempotency key is the same proposal (`replayed`); another one under it throws `idempotency_key_reused`.
   */
  create: (asker: Asker, body: NewProposalBody, idempotencyKey?: string) => Promise<{ proposal: ProposalView, replayed: boolean }>
  /** The newest 100: of the user, for admins those of the company. `sandbox`: only tests, or none. */
  list: (actor: Actor, sandbox?: boolean) => Promise<ProposalSummary[]>
  /** Throws `not_found`. */
  read: (asker: Asker, id: string) => Promise<ProposalReview>
  /** Sends it, once, as the person. Throws `conflict` where it is not open, or where another dispatch would come of it than was `seen`. */
  send: (decider: Decider, id: string, seen: string) => Promise<ProposalView>
  /** Throws `conflict` where it is not open. */
  decline: (decider: Decider, id: string) => Promise<ProposalView>
  /** Removes those of more than 30 days ago. */
  sweep: () => Promise<void>
}

export const proposals = token<Proposals>('proposals')

const day = 86_400_000
/** Milliseconds until a proposal expires, and until it is removed. */
const [lasts, kept] = [7 * day, 30 * day]

export type ProposalNeeds = {
  database: Database
  pipeline: Pick<Pipeline, 'validate' | 'review' | 'request'>
  now: () => Date
  newId: () => string
  /** Where the pages of proposals are; undefined where there is no console. */
  pages: string | undefined
}

type Proposed = Pick<ProposalRow, 'service' | 'request' | 'sandbox'>

const commandOf = ({ actor, requestId }: Asker, { service, request, sandbox }: Proposed) => ({
  actor,
  requestId,
  services: pathOf(service),
  body: request,
  version: latestVersion,
  ...sandbox && { sandbox: true as const }
})

async function find ({ database }: ProposalNeeds, actor: Actor, id: string): Promise<ProposalRow> {
  const row = await readProposal(database, circleOf(actor), id)
  if (row === undefined) throw new DispatchError('not_found', `There is no proposal "${id}".`)
  return row
}

async function reviewOf ({ pipeline }: ProposalNeeds, asker: Asker, proposed: Proposed) {
  const { plan, recipient, warnings, seen } = await pipeline.review(commandOf(asker, proposed))
  return { plan, ...recipient === undefined ? {} : { recipient }, warnings, seen }
}

const viewOf = (needs: ProposalNeeds, { request, ...row }: ProposalRow): ProposalView => ({ ...summaryOf(needs, row), request })

function summaryOf (needs: ProposalNeeds, row: SummaryRow): ProposalSummary {
  const { pages } = needs
  return {
    id: row.proposal_id,
    service: row.service,
    ...row.reason === null ? {} : { reason: row.reason },
    sandbox: row.sandbox,
    status: statusOf(needs, row),
    userId: row.user_id,
    decidedBy: row.decided_by,
    dispatchId: row.dispatch_id,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    link: pages === undefined ? null : `${pages}/${row.proposal_id}`
  }
}

function statusOf (
  { now }: ProposalNeeds,
  { decision, expires_at: expiresAt }: Pick<SummaryRow, 'decision' | 'expires_at'>
): ProposalView['status'] {
  return decision ?? (expiresAt > now() ? 'open' : 'expired')
}

function requireOpen (needs: ProposalNeeds, row: ProposalRow): void {
  const status = statusOf(needs, row)
  if (status !== 'open') {
    throw new DispatchError('conflict', `The proposal is ${status}: nothing can be decided about it any more.`, { reason: 'decided' })
  }
}

const create =
  (needs: ProposalNeeds): Proposals['create'] => async (asker, { service, request, reason = null, sandbox = false }, idempotencyKey) => {
    const { pipeline, now, newId, database } = needs
    await pipeline.validate(commandOf(asker, { service, request, sandbox }))
    const [at, id] = [now(), newId()]
    const row = await addProposal(database, asker.actor, {
      id,
      service,
      request,
      reason,
      sandbox,
      key: idempotencyKey ?? null,
      at,
      expiresAt: new Date(at.getTime() + lasts)
    })
    if (row !== undefined && canonicalJson([row.service, row.request, row.sandbox]) !== canonicalJson([service, request, sandbox])) {
      throw new DispatchError('idempotency_key_reused',
        'This idempotency key was used with another proposal: take a new key for a new one.')
    }
    if (row !== undefined) return { proposal: viewOf(needs, row), replayed: row.proposal_id !== id }
    throw new DispatchError('conflict', `${maxOpen} proposals of this user wait for a decision: a person decides about them first.`)
  }

const read = (needs: ProposalNeeds): Proposals['read'] => async (asker, id) => {
  const row = await find(needs, asker.actor, id)
  if (statusOf(needs, row) !== 'open') return { ...viewOf(needs, row), review: null }
  try {
    return { ...viewOf(needs, row), review: await reviewOf(needs, asker, row) }
  } catch (error) {
    if (!(error instanceof DispatchError)) throw error
    const { word, message, reason, details } = error
    const problem = {
      error: word,
      message,
      ...reason !== undefined && { reason },
      ...details !== undefined && { details: [...details] }
    }
    return { ...viewOf(needs, row), review: null, problem }
  }
}

const send = (needs: ProposalNeeds): Proposals['send'] => async (decider, id, seen) => {
  const { pipeline, database, now } = needs
  const { actor, author } = decider
  const row = await find(needs, actor, id)
  if (row.decision === 'sent') return viewOf(needs, row)
  requireOpen(needs, row)
  // The key makes one dispatch of it, whoever confirms at the same time, and whatever ends this process meanwhile.
  const sent = await pipeline.request({
    ...commandOf(decider, row),
    mode: 'asynchronous',
    idempotencyKey: `proposal ${id}`,
    seen
  })
  if ('waiting' in sent) {
    throw new DispatchError('conflict',
      `It waits until somebody else has approved it (${sent.waiting.approvalId}), and is sent then: nothing more is to do here.`, {
      reason: 'needs_approval'
    })
  }
  const { result: { dispatchId } } = sent
  await decide(database, { companyId: actor.companyId, id }, { decision: 'sent', by: actor.userId, dispatchId }, { author, at: now() })
  return viewOf(needs, await find(needs, actor, id))
}

/**
 * What assistants propose to send, which persons send or refuse. Throws `not_found` for what the actor does not see, `conflict` for what is
 * decided already or beyond the most that wait, `idempotency_key_reused` for other data under the same key.
 */
export function createProposals (needs: ProposalNeeds): Proposals {
  const { database, now } = needs

  return {
    create: create(needs),
    list: async (actor, sandbox) => (await listProposals(database, circleOf(actor), sandbox)).map((row) => summaryOf(needs, row)),
    read: read(needs),
    send: send(needs),
    async decline ({ actor, author }, id) {
      requireOpen(needs, await find(needs, actor, id))
      await decide(database, { companyId: actor.companyId, id }, { decision: 'declined', by: actor.userId }, { author, at: now() })
      return viewOf(needs, await find(needs, actor, id))
    },
    sweep: () => removeOldProposals(database, new Date(now().getTime() - kept))
  }
}

/** Milliseconds between two looks for old proposals. */
const every = 3_600_000

/** Removes old proposals, now and every hour. */
export function sweepProposals ({ proposals, log }: { proposals: Proposals, log: Log }): AsyncDisposable {
  const sweeping = runEvery(every, proposals.sweep, (err) => {
    log.warn({ err }, 'old proposals could not be removed')
  })
  return { [Symbol.asyncDispose]: sweeping.close }
}

/** Admins see what the assistants of the company propose, others what their own keys do; so does a key. */
function circleOf ({ companyId, userId, role, key }: Actor): Circle {
  return role === 'member' || key !== undefined ? { companyId, userId } : { companyId }
}

/** Throws `not_found` for a path that no dispatch has. */
function pathOf (service: string): ServicePath {
  const names = service.split('/')
  const path = names.flatMap((name) => serviceNames.filter((known) => known === name && known !== 'upload'))
  const [first, ...rest] = path
  if (first === undefined || path.length !== names.length) throw new DispatchError('not_found', `There is no service "${service}".`)
  const whole: ServicePath = [first, ...rest]
  const fault = rest.length === 0 ? undefined : chainFault(whole)
  if (fault !== undefined) throw new DispatchError('not_found', fault)
  return whole
}
