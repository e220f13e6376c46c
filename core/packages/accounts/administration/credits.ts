import type { CreditsView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { Actor } from '../access/account.ts'
import { sightOf } from '../access/permissions.ts'
import { readCredits } from '../store/credits.ts'

/** The credits of the actor's company and a page of the ledger, the newest entry first, limited to what the actor may see. */
export async function readLedger (
  database: Database,
  actor: Actor,
  page: { limit: number, after?: string }
): Promise<Omit<CreditsView, 'nextCursor'>> {
  // The dispatches in the ledger are no tests, and of all users. An entry tells no more of one than its price.
  const { test, userId } = sightOf(actor)
  const dispatches = test === undefined && userId === undefined ? {} : { dispatches: 'none' } as const
  const { ledger, ...credits } = await readCredits(database, actor.companyId, { ...page, ...dispatches })
  return {
    ...credits,
    ledger: ledger.map((entry) => ({
      id: entry.entry_id,
      kind: entry.kind,
      amount: Number(entry.amount),
      balance: Number(entry.balance),
      ...(entry.dispatch_id === null ? {} : { dispatchId: entry.dispatch_id }),
      reason: entry.reason,
      at: entry.at.toISOString()
    }))
  }
}
