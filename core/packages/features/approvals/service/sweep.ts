import { noteAudit } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import { dispatchUnder, lapseConsents, listExpired, moveApproval, takeConsented, takeStuck } from '../store/approvals.ts'
import type { ApprovalRow } from '../store/tables.ts'
import type { Needs } from './needs.ts'
import { noted } from './notes.ts'
import { askerOf, commandOf } from './review.ts'
import { keyOf, refOf, sendApproved, waitAgain } from './sending.ts'

/** How often another process tries to send what was approved: for about 10 minutes. */
const maxTries = 20

/** Lets those consents lapse that were given to another dispatch than would come of it now. */
async function lapse (needs: Needs, row: ApprovalRow): Promise<void> {
  const { database, now, pipeline } = needs
  const seen = await pipeline.seen(commandOf(row, await askerOf(needs, row)))
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

/** Sends what was left, and ends what has waited for too long. One that fails keeps no other from its turn. */
export async function sweep (needs: Needs): Promise<void> {
  const { database, now } = needs
  const failures: unknown[] = []
  const also = (error: unknown): void => {
    failures.push(error)
  }
  for (const row of await takeStuck(database)) {
    // Nobody can end what is sent for ever: after so many tries people decide anew, under the same key.
    if (row.tries > maxTries && await dispatchUnder(database, row.company_id, keyOf(row)) === undefined) {
      await waitAgain(needs, row, 'timeout').catch(also)
      continue
    }
    await sendApproved(needs, row, 'later').catch((error: unknown) => {
      if (!(error instanceof DispatchError)) also(error)
    })
  }
  for (const ref of await listExpired(database, now())) {
    await moveApproval(database, ref, { from: 'waiting', to: 'expired', at: now() }, noted(needs, 'approval.expired', null)).catch(also)
  }
  if (failures.length > 0) throw failures[0]
}

/** Looks whether what some have approved is still what would be sent. */
export async function lookAgain (needs: Needs): Promise<void> {
  const failures: unknown[] = []
  for (const row of await takeConsented(needs.database)) {
    await lapse(needs, row).catch((error: unknown) => {
      // What cannot be sent now cannot be approved now either.
      if (!(error instanceof DispatchError)) failures.push(error)
    })
  }
  if (failures.length > 0) throw failures[0]
}
