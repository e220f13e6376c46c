import type { Actor } from '@dispatch/accounts'
import { ApprovalRequired, type ApprovalRuleRef } from '@dispatch/core'
import type { CompanyQueries } from '@dispatch/database'
import { listRowsToApprove, totalsOf } from '../store/row-facts.ts'
import { advanceBatchIn, type Progress } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import type { Needs } from './needs.ts'
import { problem, ref } from './progress.ts'
import { batchToApprove } from './view.ts'

/** Whether somebody else has to approve it. Then it has paused before anybody can, unless it was changed meanwhile. */
export async function waits (
  { database, pipeline }: Pick<Needs, 'database' | 'pipeline'>,
  batch: BatchRow,
  actor: Actor,
  progress: Progress,
  also: readonly ApprovalRuleRef[] = []
): Promise<boolean> {
  const { services, request_id: requestId, test } = batch
  const toApprove = problem('approval_required', 'Somebody else has to approve it: it goes on when they do.', 'needs_approval')
  const pause = async (queries: CompanyQueries): Promise<boolean> =>
    await advanceBatchIn(database, queries, ref(batch), { ...progress, status: 'paused', problem: toApprove }) !== undefined
  const totals = () => database.company(batch.company_id, (queries) => totalsOf(queries, ref(batch)))
  const found = () => listRowsToApprove(database, ref(batch))
  return !test && await pipeline.askForBatch({ ...batchToApprove(batch, actor), services, requestId, totals, pause }, { found, also })
}

/** Those of a refusal that tell which they are. */
export const rulesOf = ({ rules }: ApprovalRequired): ApprovalRuleRef[] =>
  rules.flatMap(({ id, name = '' }) => id === undefined ? [] : [{ id, name }])
