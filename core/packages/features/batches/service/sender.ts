import { type Actor, recordedActor } from '@dispatch/accounts'
import type { OpenWork, Work } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { bodyOf } from './body.ts'
import type { Needs } from './needs.ts'
import { pause } from './progress.ts'

/** Who has sent the batch, with what they may still do. Undefined where they may not send any more: then it has paused. */
export async function senderOf (needs: Pick<Needs, 'accounts' | 'database' | 'outbox'>, batch: BatchRow): Promise<Actor | undefined> {
  const { accounts, database } = needs
  const { company_id: companyId, user_id: userId, impersonator_id: impersonatorId, key, permitted } = batch
  const actor = await recordedActor({ accounts, database }, { companyId, userId, impersonatorId, key, permitted })
  if (actor === undefined) {
    await pause(needs, batch, 'forbidden',
      'The user or the API key that has sent the batch may not send any more: enable them, and resume it.', 'disabled')
  }
  return actor
}

/** What of a batch counts for the approval of one of its rows. */
export const rowOf = ({ batch_id: batchId, total: rows, credits, checked_at: checkedAt }: BatchRow) => ({
  batchId,
  rows,
  credits: Number(credits),
  checkedAt
})

/** What the rows of a turn have in common. `asOf`: the time of the database when it began. */
export type RowsOfTurn = { batch: BatchRow, actor: Actor, common: string | null, asOf: Date }

/** A row as the request of a dispatch. */
export function commandOf ({ batch, actor, common, asOf }: RowsOfTurn, { body }: OpenWork) {
  return {
    asOf,
    actor,
    services: batch.services,
    body: bodyOf(common, body ?? '{}'),
    requestId: batch.request_id,
    mode: 'asynchronous' as const,
    ...batch.sandbox ? { sandbox: true as const } : {},
    ...batch.strict ? { strict: true as const } : {},
    version: batch.api_version,
    approval: rowOf(batch)
  }
}

/** Whoever tries a file as a test sends it for good afterwards: the ids of a test's rows are of tests alone. */
export const keyOf = ({ batch_id: batchId, test }: BatchRow, { number, row_id: id }: Pick<Work, 'number' | 'row_id'>): string =>
  id === null ? `batch ${batchId}/${number}` : test ? `batch test/${id}` : id

/** Whom the audit log names for what is done for the batch. */
export function authorOf ({ retried_by: author, user_id: userId, company_id: companyId, request_id: requestId }: BatchRow) {
  return author ?? { userId, companyId, address: '', requestId }
}
