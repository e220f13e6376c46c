import { type Accounts, type Actor, type AuditAuthor, noteAudit, notifyUrlOf, recordedActor, sightOf } from '@dispatch/accounts'
import { type CallbackType, DispatchError, type ToldApproval } from '@dispatch/contract'
import { ApprovalRequired, type Outbox, type Pipeline } from '@dispatch/core'
import { asOwner, type CompanyQueries, type Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { Batches } from '../../batches/service/batches.ts'
import type { ApprovalFacts, ApprovalRowView, ApprovalView } from '../contract/approvals.ts'
import { addressesOf, type ApprovalRef, type Circle, consentsTo, consentTo, dispatchUnder, lapseConsents, listApprovals, listExpired,
  moveApproval, readApproval, removeOld, takeConsented, takeStuck } from '../store/approvals.ts'
import { rulesNow } from '../store/rules.ts'
import type { ApprovalRow, StoredRule } from '../store/tables.ts'

/** Who decides, and what the audit log notes of them. */
export type Decider = { actor: Actor, author: AuditAuthor }

/** What waits until somebody else has approved it, and what was decided. */
export type Approvals = {
  /** The newest 100: for admins those of the company, for others their own and those that they may decide about. */
  list: (actor: Actor, only?: 'waiting') => Promise<ApprovalFacts[]>
  /** Throws `not_found`. */
  read: (actor: Actor, id: string) => Promise<ApprovalView>
  /** So many rows of a batch after a number: fewer where they are large; none of what is no batch. Throws `not_found`. */
  rows: (
    actor: Actor,
    id: string,
    page: { after: number, limit: number, search?: string | undefined }
  ) => Promise<{ rows: ApprovalRowView[], next: number | null }>
  /**
   * Approves it for each rule that names the decider, of those that want it now. Once there is somebody for each, sends it, once, as
   * whoever has asked. Throws `conflict` where it does not wait, or where another dispatch would come of it than was `seen`, `forbidden`
   * for somebody who may not decide, and what a dispatch would be refused with.
   */
  approve: (decider: Decider, id: string, decision: { seen?: string, reason?: string }) => Promise<ApprovalView>
  /** Throws `conflict` where it does not wait, and `forbidden`. It is never sent. */
  refuse: (decider: Decider, id: string, reason: string) => Promise<ApprovalView>
  /** Takes back what the user has asked for. Throws `conflict` where it does not wait. */
  withdraw: (decider: Decider, id: string) => Promise<ApprovalView>
  /** Ends what waits and names a person who is erased: nobody decides about it any more. */
  end: (ref: ApprovalRef, author: AuditAuthor) => Promise<void>
  /** Sends what a process that has ended was about to send, and ends what waits for too long. */
  sweep: () => Promise<void>
  /** Lets consents lapse to what has changed since, as far as it waits for others: who gave them is told. */
  lookAgain: () => Promise<void>
  /** Removes some of what is old. */
  forget: () => Promise<void>
}

export const approvals = token<Approvals>('approvals')

/** Milliseconds for which what was decided is kept. */
const kept = 90 * 86_400_000

/** The errors of a dispatch after which it may be recorded: the approval is not taken back. */
const unclear: ReadonlySet<string> = new Set(['recording_unknown', 'timeout', 'internal_error', 'service_unavailable',
  'idempotency_in_progress'])

/** How often another process tries to send what was approved: for about 10 minutes. */
const maxTries = 20

type Needs = {
  accounts: Accounts
  database: Database
  pipeline: Pick<Pipeline, 'review' | 'seen' | 'dispatch' | 'rulesForBatch'>
  batches: Pick<Batches, 'resumeApproved' | 'find' | 'end' | 'asked' | 'kept'>
  outbox: Pick<Outbox, 'tell'>
  now: () => Date
  /** Where the pages are; undefined where there is no console. */
  pages: string | undefined
}

export function createApprovals ({ accounts, database, pipeline, batches, outbox, now, pages }: Needs): Approvals {
  const refOf = ({ company_id: companyId, approval_id: approvalId }: ApprovalRow): ApprovalRef => ({ companyId, approvalId })

  /** With whom the rules name now: an approver who has left is replaced, and one whom a rule names no more decides no more. */
  async function find (actor: Actor, id: string): Promise<ApprovalRow> {
    const circle = circleOf(actor)
    const row = circle && await readApproval(database, circle, id)
    if (row === undefined) throw new DispatchError('not_found', `There is no approval "${id}".`)
    return { ...row, rules: await rulesNow(database, row) }
  }

  /** Who has asked, as of now. Throws `conflict` where they may send no more. */
  async function askerOf (row: ApprovalRow): Promise<Actor> {
    const actor = await recordedActor({ accounts, database }, row.asker)
    if (actor === undefined) throw new DispatchError('conflict', 'Whoever asked for it may not send any more, nor may their API key.')
    return actor
  }

  const keyOf = (row: ApprovalRow): string => row.idempotency_key ?? `approval ${row.approval_id}`

  /** The request as it was asked for. Its time may have passed while it waited: then it is sent as soon as it may be. */
  const commandOf = (row: ApprovalRow, actor: Actor) => ({
    ...row.command,
    actor,
    services: row.services,
    body: row.request,
    approval: { approvalId: row.approval_id, rules: row.rules.map(({ id }) => id) }
  })

  const isOpen = (row: ApprovalRow): boolean => row.status === 'waiting' && row.expires_at > now()

  function requireOpen (row: ApprovalRow): void {
    if (!isOpen(row)) {
      throw new DispatchError('conflict', `It is ${statusOf(row, now())}: nothing can be decided about it any more.`)
    }
  }

  async function viewFor (actor: Actor, found: ApprovalRow): Promise<ApprovalView> {
    if (!isOpen(found)) return { ...await withNames(actor, found), review: null }
    try {
      const { rules, review } = await reviewOf(found)
      return { ...await withNames(actor, { ...found, rules }), review }
    } catch (error) {
      if (!(error instanceof DispatchError)) throw error
      const { word, message, details } = error
      const problem = { error: word, message, ...details !== undefined && { details: [...details] } }
      return { ...await withNames(actor, found), review: null, problem }
    }
  }

  async function withNames (actor: Actor, row: ApprovalRow): Promise<Omit<ApprovalView, 'review'>> {
    const { company_id: companyId, user_id: userId, decided_by: decidedBy, rules, request, facts: { totals } } = row
    const people = [userId, ...decidedBy === null ? [] : [decidedBy],
      ...rules.flatMap(({ approvers, consent, lapsed }) => [...approvers, ...[consent, lapsed].flatMap((one) => one?.by ?? [])])]
    const addresses = await addressesOf(database, companyId, [...new Set(people)])
    const nameOf = (id: number): string => addresses.get(id) ?? ''
    return {
      ...factsOf(row, { now: now(), pages }),
      askedBy: nameOf(userId),
      decider: decidedBy === null ? null : nameOf(decidedBy),
      asks: rules.map(({ name, approvers, consent, lapsed }) => ({
        name,
        approvers: approvers.map(nameOf),
        approvedBy: consent === undefined ? null : nameOf(consent.by),
        approvedAt: consent?.at ?? null,
        lapsedBy: consent === undefined && lapsed !== undefined ? nameOf(lapsed.by) : null
      })),
      mayDecide: isOpen(row) && mayDecide(actor, row),
      mayRefuse: isOpen(row) && isNamed(actor, row),
      ...totals !== undefined && { totals },
      request
    }
  }

  /** What would come of it now, and the rules that want it now, with the consents to that. Throws what a dispatch would be refused with. */
  async function reviewOf (row: ApprovalRow): Promise<{ rules: StoredRule[], review: ApprovalView['review'] }> {
    const asker = await askerOf(row)
    const { batch_id: batchId } = row
    if (batchId !== null) {
      const asked = await batches.asked(asker, batchId)
      const added = asked === undefined ? [] : await addedOf(row, await pipeline.rulesForBatch(asked.batch, asked.found))
      return { rules: [...row.rules, ...added], review: null }
    }
    const { plan, recipient, warnings, seen, asking } = await pipeline.review(commandOf(row, asker))
    const rules = consentsTo(seen, [...row.rules, ...await addedOf(row, asking)])
    return { rules, review: { plan, ...recipient !== undefined && { recipient }, warnings, seen } }
  }

  /** Those rules that have not asked for it before, with whom they name. */
  async function addedOf (row: ApprovalRow, asking: ApprovalRequired['rules']): Promise<StoredRule[]> {
    const rules = asking.filter(({ id }) => !row.rules.some((rule) => rule.id === id))
      .map(({ id = '', name = '' }) => ({ id, name, approvers: [] }))
    return rules.length === 0 ? [] : await rulesNow(database, { company_id: row.company_id, rules })
  }

  /** Tells the company by callbacks, and the audit log, in the transaction of the decision. A batch that is not approved ends in it. */
  function noted (
    type: Extract<CallbackType, `approval.${string}`>,
    author: AuditAuthor | null
  ): (queries: CompanyQueries, row: ApprovalRow) => Promise<void> {
    return async (queries, row) => {
      const { company_id: companyId, approval_id: id, user_id: askedBy, decided_by: decidedBy, dispatch_id: dispatchId, reason } = row
      if (row.batch_id !== null && type !== 'approval.approved') {
        await batches.end(queries, { companyId, batchId: row.batch_id }, { author, at: now() })
      }
      const owner = await asOwner(queries)
      await noteAudit(owner, {
        companyId,
        author,
        at: now(),
        action: type,
        object: { kind: 'approval', id },
        facts: {
          askedBy,
          ...decidedBy !== null && { decidedBy },
          ...dispatchId !== null && { dispatchId },
          ...row.batch_id !== null && { batchId: row.batch_id },
          ...reason !== null && { reason }
        }
      })
      const url = await notifyUrlOf(owner, companyId)
      await outbox.tell(owner, companyId, { type, data: toldOf(row, { now: now(), pages }), ...url === null ? {} : { url } })
    }
  }

  /** Notes that somebody has approved it while others are still asked. */
  const notedConsent = (author: AuditAuthor) => async (queries: CompanyQueries, row: ApprovalRow): Promise<void> => {
    if (row.status !== 'waiting') return
    await noteAudit(queries, {
      companyId: row.company_id,
      author,
      at: now(),
      action: 'approval.consented',
      object: { kind: 'approval', id: row.approval_id },
      facts: {
        askedBy: row.user_id,
        waitsFor: row.rules.filter(({ consent }) => consent === undefined).map(({ name }) => name)
      }
    })
  }

  /**
   * Sends what was approved. Where it is refused for sure, it waits again: whoever has just approved it reads why, and is mailed where it
   * is sent later.
   */
  async function sendApproved (row: ApprovalRow, when: 'now' | 'later'): Promise<void> {
    const { author, seen } = row
    if (author === null) throw new Error(`Nobody has approved ${row.approval_id}.`)
    try {
      if (row.batch_id !== null) await resumed(row, row.batch_id, author)
      const sent = row.batch_id === null ? { dispatchId: await dispatched(row, seen) } : {}
      // Where another process was refused meanwhile, it waits again: what was sent counts.
      const by = { userId: row.decided_by ?? author.userId, author, reason: row.reason ?? undefined, seen: seen ?? undefined }
      await moveApproval(database, refOf(row), { from: ['sending', 'waiting'], to: 'approved', by, at: row.decided_at ?? now(), ...sent },
        noted('approval.approved', author))
    } catch (error) {
      if (error instanceof DispatchError && !unclear.has(error.word)) {
        const added = error instanceof ApprovalRequired ? await addedOf(row, error.rules) : []
        await waitAgain(row, error.word, { added, when })
        if (added.length > 0) {
          const names = added.map(({ name }) => `"${name}"`).join(', ')
          throw new DispatchError('conflict', `Another rule wants it approved as well (${names}), and it waits for that: look again.`)
        }
      }
      throw error
    }
  }

  /**
   * What was approved waits again, for those rules that have not asked for it before, or for whoever approved it last: the others need not
   * look again.
   */
  async function waitAgain (
    row: ApprovalRow,
    reason: string,
    { added = [], when = 'later' }: { added?: readonly StoredRule[], when?: 'now' | 'later' } = {}
  ): Promise<void> {
    const rules = added.length > 0
      ? [...row.rules, ...added]
      : row.rules.map(({ consent, ...rule }): StoredRule => ({
        ...rule,
        ...consent && (consent.by === row.decided_by ? { lapsed: consent } : { consent })
      }))
    const asksAgain = added.length > 0 || when === 'later'
    await moveApproval(database, refOf(row), { from: 'sending', to: 'waiting', at: now(), since: row.worked_at, rules, asksAgain },
      (queries) =>
        noteAudit(queries, {
          companyId: row.company_id,
          author: row.author,
          at: now(),
          action: 'approval.returned',
          object: { kind: 'approval', id: row.approval_id },
          facts: { reason, ...added.length > 0 && { rules: added.map(({ name }) => name) } }
        }))
  }

  async function lapse (row: ApprovalRow): Promise<void> {
    const seen = await pipeline.seen(commandOf(row, await askerOf(row)))
    await lapseConsents(database, refOf(row), { seen, of: row.rules }, (queries, lapsed) =>
      noteAudit(queries, {
        companyId: row.company_id,
        author: null,
        at: now(),
        action: 'approval.lapsed',
        object: { kind: 'approval', id: row.approval_id },
        facts: { askedBy: row.user_id, rules: lapsed.map(({ name }) => name) }
      }))
  }

  async function dispatched (row: ApprovalRow, seen: string | null): Promise<string> {
    // The key makes one dispatch of it, whoever approves at the same time, and whatever ends this process meanwhile.
    const { result: { dispatchId } } = await pipeline.dispatch({
      ...commandOf(row, await askerOf(row)),
      mode: 'asynchronous',
      idempotencyKey: keyOf(row),
      ...seen !== null && { seen }
    })
    return dispatchId
  }

  async function resumed (row: ApprovalRow, batchId: string, author: AuditAuthor): Promise<void> {
    const { asker } = row
    const ref = refOf(row)
    const { companyId } = ref
    const actor: Actor = { companyId, userId: asker.userId, email: '', role: 'admin', services: ['*'] }
    try {
      if (await batches.resumeApproved({ actor, author, batchId }) !== undefined) return
    } catch (error) {
      if (!(error instanceof DispatchError && error.word === 'conflict')) throw error
    }
    // It goes on already, as another process has found, or it is over.
    const batch = await batches.find(actor, batchId)
    if (batch !== undefined && batch.status !== 'cancelled' && batch.status !== 'refused') return
    await moveApproval(database, ref, { from: 'sending', to: 'withdrawn', at: now() }, noted('approval.withdrawn', author))
    throw new DispatchError('conflict', 'The batch was cancelled meanwhile: nothing more of it is sent.')
  }

  return {
    async list (actor, only) {
      const circle = circleOf(actor)
      const rows = circle === undefined ? [] : await listApprovals(database, circle, only, now())
      return rows.map((row) => factsOf(row, { now: now(), pages }))
    },

    read: async (actor, id) => viewFor(actor, await find(actor, id)),

    async rows (actor, id, page) {
      const { company_id: companyId, batch_id: batchId } = await find(actor, id)
      return batchId === null ? { rows: [], next: null } : batches.kept({ companyId, batchId }, page)
    },

    async approve ({ actor, author }, id, { seen, reason }) {
      const row = await find(actor, id)
      requireNamed(actor, row)
      const isTheirs = ({ rules }: Pick<ApprovalRow, 'rules'>): boolean => rules.some(({ consent }) => consent?.by === actor.userId)
      if (row.status === 'approved' && isTheirs(row)) return viewFor(actor, row)
      requireOpen(row)
      if (row.batch_id === null && seen === undefined) {
        throw new DispatchError('validation_error', 'What was seen of it belongs into the body: GET tells it.', {
          details: [{ path: '/seen', code: 'required', message: 'It is required for what is no batch.' }]
        })
      }
      const { rules, review } = await reviewOf(row)
      if (review !== null && review.seen !== seen) {
        throw new DispatchError('conflict',
          'Another dispatch would come of it now than was shown, because a template, a provider or a price has changed: look again.')
      }
      if (!mayDecide(actor, { ...row, rules })) {
        if (isTheirs({ rules })) return viewFor(actor, row)
        throw new DispatchError('conflict', 'Somebody else has to approve it as well: look again.')
      }
      const taken = await consentTo(database, refOf(row), {
        rules,
        names: (rule) => names(actor, rule),
        by: { userId: actor.userId, author, reason, seen },
        at: now()
      }, notedConsent(author))
      if (taken === undefined) throw new DispatchError('conflict', 'Somebody else has just decided about it: look again.')
      if (taken.status === 'sending') await sendApproved(taken, 'now')
      return viewFor(actor, await find(actor, id))
    },

    async refuse ({ actor, author }, id, reason) {
      const row = await find(actor, id)
      requireNamed(actor, row)
      requireOpen(row)
      const refused = await moveApproval(database, refOf(row), {
        from: 'waiting',
        to: 'refused',
        by: { userId: actor.userId, author, reason },
        at: now(),
        open: true
      }, noted('approval.refused', author))
      if (refused === undefined) throw new DispatchError('conflict', 'Somebody else has just decided about it: look again.')
      return viewFor(actor, refused)
    },

    async withdraw ({ actor, author }, id) {
      const row = await find(actor, id)
      if (row.user_id !== actor.userId) {
        throw new DispatchError('forbidden', 'Only whoever asked for it takes it back: an approver refuses it.')
      }
      requireOpen(row)
      const taken = await moveApproval(database, refOf(row), { from: 'waiting', to: 'withdrawn', at: now(), open: true },
        noted('approval.withdrawn', author))
      if (taken === undefined) throw new DispatchError('conflict', 'Somebody has just decided about it: look again.')
      return viewFor(actor, taken)
    },

    async end (ref, author) {
      await moveApproval(database, ref, { from: 'waiting', to: 'withdrawn', at: now() }, noted('approval.withdrawn', author))
    },

    async sweep () {
      const failures: unknown[] = []
      const also = (error: unknown): void => {
        failures.push(error)
      }
      for (const row of await takeStuck(database)) {
        // Nobody can end what is sent for ever: after so many tries people decide anew, under the same key.
        if (row.tries > maxTries && await dispatchUnder(database, row.company_id, keyOf(row)) === undefined) {
          await waitAgain(row, 'timeout').catch(also)
          continue
        }
        await sendApproved(row, 'later').catch((error: unknown) => {
          if (!(error instanceof DispatchError)) also(error)
        })
      }
      for (const ref of await listExpired(database, now())) {
        await moveApproval(database, ref, { from: 'waiting', to: 'expired', at: now() }, noted('approval.expired', null)).catch(also)
      }
      if (failures.length > 0) throw failures[0]
    },

    async lookAgain () {
      const failures: unknown[] = []
      for (const row of await takeConsented(database)) {
        await lapse(row).catch((error: unknown) => {
          // What cannot be sent now cannot be approved now either.
          if (!(error instanceof DispatchError)) failures.push(error)
        })
      }
      if (failures.length > 0) throw failures[0]
    },

    async forget () {
      await removeOld(database, new Date(now().getTime() - kept))
    }
  }
}

/**
 * Admins see what waits in the company, others their own and what they may decide about; a key what its user has asked for: each of their
 * services. A test key sees none: nothing of a test waits.
 */
function circleOf (actor: Actor): Circle | undefined {
  const { companyId, userId, role, key } = actor
  const { test, services } = sightOf(actor)
  if (test === true) return undefined
  const own = { companyId, ...services !== undefined && { services } }
  if (key !== undefined) return { ...own, userId }
  return { ...own, ...role === 'member' && { userId }, decider: { userId, isAdmin: role === 'admin' } }
}

type Decided = Pick<ApprovalRow, 'asker' | 'rules'>

/** Whether a rule names somebody: where it names nobody, the admins. */
const names = ({ userId, role }: Actor, { approvers }: StoredRule): boolean =>
  approvers.length === 0 ? role === 'admin' : approvers.includes(userId)

/** Whether somebody sits at their own session, and has not asked for it, not even under another identity. */
const isAnother = ({ userId, key, impersonatorId }: Actor, { asker }: Decided): boolean =>
  key === undefined && impersonatorId === undefined && userId !== asker.userId && userId !== asker.impersonatorId

/** Whether somebody may refuse it: one of the rules names them. */
const isNamed = (actor: Actor, row: Decided): boolean => isAnother(actor, row) && row.rules.some((rule) => names(actor, rule))

/** Whether somebody may approve it: a rule names them for which nobody has. */
export const mayDecide = (actor: Actor, row: Decided): boolean =>
  isAnother(actor, row) && row.rules.some((rule) => rule.consent === undefined && names(actor, rule))

function requireNamed (actor: Actor, row: Decided): void {
  if (!isNamed(actor, row)) {
    throw new DispatchError('forbidden', 'This needs somebody else than who asked for it: a person, as themselves, whom a rule names.')
  }
}

function statusOf ({ status, expires_at: expiresAt }: ApprovalRow, now: Date): ApprovalFacts['status'] {
  return status === 'waiting' && expiresAt <= now ? 'expired' : status
}

export function factsOf (row: ApprovalRow, { now, pages }: { now: Date, pages: string | undefined }): ApprovalFacts {
  const { totals: _totals, ...facts } = row.facts
  return {
    id: row.approval_id,
    status: statusOf(row, now),
    service: row.services.join('/'),
    rules: row.rules.map(({ name }) => name),
    userId: row.user_id,
    decidedBy: row.decided_by,
    reason: row.reason,
    ...facts,
    batchId: row.batch_id,
    dispatchId: row.dispatch_id,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    decidedAt: row.decided_at?.toISOString() ?? null,
    link: pages === undefined ? null : `${pages}/${row.approval_id}`
  }
}

/** The same for a callback. */
export function toldOf (row: ApprovalRow, where: Parameters<typeof factsOf>[1]): ToldApproval {
  const { recipient: _recipient, reason: _reason, ...told } = factsOf(row, where)
  return told
}
