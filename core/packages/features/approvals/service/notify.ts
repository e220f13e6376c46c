import { type LinkMail, listNotifiedPeople, notifyUrlOf } from '@dispatch/accounts'
import { type Log, uuidOf } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Outbox } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { runEvery } from '@dispatch/queue'
import { listUnnotified, markNotified, noteMailed, notifyLater } from '../store/approvals.ts'
import { rulesNow } from '../store/rules.ts'
import type { ApprovalRow } from '../store/tables.ts'
import { words as en } from '../words.en.ts'
import { words as fr } from '../words.fr.ts'
import type { Approvals } from './approvals.ts'
import { toldOf } from './view.ts'

/** Milliseconds between two looks for what is to be told, sent, or has expired. */
const every = 5_000
/** Milliseconds between two looks at what some have approved: whether that is still what would be sent. */
const lookEvery = 60_000
/** Milliseconds between two looks for what is old. */
const forgetEvery = 600_000

type Needs = {
  approvals: Pick<Approvals, 'sweep' | 'lookAgain' | 'forget'>
  database: Database
  linkMail: Pick<LinkMail, 'offered' | 'message'>
  outbox: Pick<Outbox, 'tell'>
  log: Log
  publicUrl: string
  pages: string | undefined
  now: () => Date
}

/**
 * Tells whoever may approve that something waits: by callbacks, and by a mail to each of them. Throws the first failure, after all others
 * were tried.
 */
export function createNotifier ({ database, linkMail, outbox, log, publicUrl, pages, now }: Needs): () => Promise<void> {
  async function tell (row: ApprovalRow): Promise<void> {
    await markNotified(database, { companyId: row.company_id, approvalId: row.approval_id }, async (queries, reported) => {
      const url = await notifyUrlOf(queries, reported.company_id)
      await outbox.tell(queries, reported.company_id, {
        type: 'approval.requested',
        data: toldOf(reported, { now: now(), pages }),
        ...url === null ? {} : { url }
      })
    })
  }

  /** The same mail is sent once, however often it is tried. */
  async function mail (row: ApprovalRow): Promise<void> {
    const { company_id: companyId, approval_id: approvalId, status, asker } = row
    const rules = await rulesNow(database, row)
    const asking = rules.filter(({ consent }) => consent === undefined)
    // Each rule has its own approvers: of one that names nobody, the admins.
    const named = asking.flatMap(({ approvers }) => approvers)
    const circles = [...asking.some(({ approvers }) => approvers.length === 0) ? ['admins' as const] : [],
      ...named.length > 0 ? [named] : []]
    const reported = status === 'waiting' && await linkMail.offered()
      ? (await Promise.all(circles.map((who) => listNotifiedPeople(database, companyId, who)))).flat()
      : []
    const people = new Map(reported.filter((one) => one.userId !== asker.userId).map((one) => [one.userId, one]))
    const failures: unknown[] = []
    for (const { userId, email: to, language } of people.values()) {
      const words = language === 'fr' ? fr : en
      // Who has approved it is told once that this counts no more; the others know already that it waits for them.
      const lost = asking.filter(({ lapsed }) => lapsed?.by === userId)
      const lostAt = lost.map(({ lapsed }) => lapsed?.at ?? '').toSorted().at(-1)
      const rules = (lostAt === undefined ? asking : lost).map(({ name }) => name).join(', ')
      await linkMail.message({
        dispatchId: uuidOf(['approval', approvalId, userId, ...lostAt === undefined ? [] : [lostAt]]),
        to,
        companyId,
        subject: lostAt === undefined ? words.approvalMailSubject : words.approvalLapsedSubject,
        text: [(lostAt === undefined ? words.approvalMail : words.approvalLapsedMail).replace('{rules}', rules)],
        url: `${pages ?? `${publicUrl}/api/v1/approvals`}/${approvalId}`
      }).catch((error: unknown) => {
        // An address that is refused is refused the next time too.
        if (!(error instanceof DispatchError && error.word === 'validation_failed')) failures.push(error)
        else log.warn({ err: error, companyId }, 'somebody cannot be told of an approval by mail')
      })
    }
    if (failures.length > 0) throw failures[0]
    await noteMailed(database, { companyId, approvalId }, row.rules)
  }

  return async () => {
    for (const [way, column] of [[tell, 'told_at'], [mail, 'mailed_at']] as const) {
      for (const row of await listUnnotified(database, column)) {
        // What fails is tried again later, and keeps nobody else from being told.
        await way(row).catch(async (err: unknown) => {
          log.warn({ err, companyId: row.company_id }, 'a company was not told of an approval in one way: it is tried again')
          await notifyLater(database, { companyId: row.company_id, approvalId: row.approval_id })
        })
      }
    }
  }
}

/** Tells, sends what was left, and ends what has expired, every 5 seconds. */
export function workOnApprovals (needs: Needs): AsyncDisposable {
  const tell = createNotifier(needs)
  const working = runEvery(every, async () => {
    await tell()
    await needs.approvals.sweep()
  }, (err) => {
    needs.log.warn({ err }, 'what waits for an approval was not looked at')
  })
  const looking = runEvery(lookEvery, () => needs.approvals.lookAgain(), (err) => {
    needs.log.warn({ err }, 'what some have approved was not looked at again')
  })
  const forgetting = runEvery(forgetEvery, () => needs.approvals.forget(), (err) => {
    needs.log.warn({ err }, 'old approvals were not removed')
  })
  return {
    async [Symbol.asyncDispose] () {
      await Promise.all([working.close(), looking.close(), forgetting.close()])
    }
  }
}
