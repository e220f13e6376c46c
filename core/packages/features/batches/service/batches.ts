import { type Actor, type AuditAuthor, type AuditStamp, sightOf } from '@dispatch/accounts'
import { createFairSemaphore } from '@dispatch/common'
import { type BatchView, DispatchError } from '@dispatch/contract'
import type { BatchToApprove, PipelineJobs, RowsToApprove } from '@dispatch/core'
import type { CompanyQueries } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { Network } from '@dispatch/vendor-io'
import type { ResultView } from '../contract/batches.ts'
import { type BatchRef, changeBatch, changeBatchIn, findBatch, listBatches, retryBatch } from '../store/batches.ts'
import { listKeptRows, listRowsToApprove } from '../store/row-facts.ts'
import { listResults, readCommon } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { type NewBatchRequest, type ReceivingNeeds, take, type Upload } from './receive.ts'
import { batchToApprove, keptOf, type KeptRowView, resultOf, viewOf } from './view.ts'

/** Who asks for something of a batch. */
export type BatchRequest = { actor: Actor, author: AuditAuthor, batchId: string }

/** Many dispatches in one file. What is asked for by somebody who may not see it is `undefined`, as what is not there. */
export type Batches = {
  /**
   * Takes a batch in; its rows are checked and sent later. `upload` begins to read it. Throws a DispatchError where nothing was taken in.
   * `replayed`: an earlier request with the same idempotency key has made it.
   */
  take: (request: NewBatchRequest, upload: () => Promise<Upload>) => Promise<{ batch: BatchView, replayed: boolean }>
  find: (actor: Actor, batchId: string) => Promise<BatchView | undefined>
  list: (actor: Actor, page: { limit: number, after?: string, test?: boolean }) => Promise<BatchView[]>
  /** All of its rows, or those that failed or were refused, in pages. */
  results: (actor: Actor, batchId: string, only?: 'failed' | 'refused') => Promise<AsyncGenerator<ResultView[], void> | undefined>
  /** Each throws `conflict` where the batch is in no state for it. */
  pause: (request: BatchRequest) => Promise<BatchView | undefined>
  /** `conflict` too where it waits for an approval. */
  resume: (request: BatchRequest) => Promise<BatchView | undefined>
  /** The same once somebody has approved it. */
  resumeApproved: (request: BatchRequest) => Promise<BatchView | undefined>
  /** What rules of approval look at of a batch that somebody decides about; undefined where it is gone. */
  toApprove: (actor: Actor, batchId: string) => Promise<{ batch: BatchToApprove, found: () => Promise<RowsToApprove[]> } | undefined>
  /** So many of its rows after a number, for whoever decides about it: fewer where they are large. `next`: others come after it. */
  kept: (
    ref: BatchRef,
    page: { after: number, limit: number, search?: string | undefined }
  ) => Promise<{ rows: KeptRowView[], next: number | null }>
  /** Cancels, in the transaction of a decision, what of it is not sent; nothing where it is over. */
  end: (queries: CompanyQueries, ref: BatchRef, stamp: AuditStamp) => Promise<void>
  cancel: (request: BatchRequest) => Promise<BatchView | undefined>
  retry: (request: BatchRequest) => Promise<BatchView | undefined>
}

export const batches = token<Batches>('batches')

/** What batches use of the service. */
type Needs = ReceivingNeeds & { jobs: Pick<PipelineJobs, 'batched'> }

type Options = Omit<Needs, 'guard' | 'limits'> & { network: Pick<Network, 'guard'>, limits?: Needs['limits'] }

/** The most rows of a batch, and bytes of its file. */
export const [maxRows, maxBytes] = [100_000, 256 * 1024 * 1024]
const usual = { rows: maxRows, bytes: maxBytes }
/** What can be cancelled. */
const unfinished = ['checking', 'queued', 'running', 'paused'] as const
/** Rows on a page of results. */
const resultsTogether = 1_000

/**
 * Creates the batches of companies. One of a company at a time comes in, eight in all; others wait for their turn, or get `rate_limited`.
 */
export function createBatches ({ network: { guard }, limits = usual, ...given }: Options): Batches {
  const needs: Needs = { ...given, guard, limits }
  const { database, jobs } = needs
  const receiving = createFairSemaphore({
    total: 8,
    perOwner: 1,
    waiting: 4,
    full: () => new DispatchError('rate_limited', 'Other batches of the company are coming in: try again in a minute.', { retryAfter: 60 })
  })

  return {
    take: (request, upload) => receiving.run(request.actor.companyId, () => take(needs, request, upload)),

    async find (actor, batchId) {
      const batch = await findBatch(database, { companyId: actor.companyId, batchId }, sightOf(actor))
      return batch && viewOf(batch)
    },

    list: async (actor, page) => (await listBatches(database, actor.companyId, sightOf(actor), page)).map(viewOf),

    async results (actor, batchId, only) {
      const batch = await findBatch(database, { companyId: actor.companyId, batchId }, sightOf(actor))
      return batch && pagesOf(needs, batch, only)
    },

    pause: (request) => change(needs, request, { from: ['checking', 'queued', 'running'], to: 'paused' }),
    resume: (request) => change(needs, request, { from: ['paused'], to: 'resumed' }),
    resumeApproved: (request) => change(needs, request, { from: ['paused'], to: 'resumed', approved: true }),
    cancel: (request) => change(needs, request, { from: [...unfinished], to: 'cancelled' }),

    async toApprove (actor, batchId) {
      const ref = { companyId: actor.companyId, batchId }
      const batch = await findBatch(database, ref, {})
      return batch && { batch: batchToApprove(batch, actor), found: () => listRowsToApprove(database, ref) }
    },

    kept: (ref, page) => kept(needs, ref, page),

    async end (queries, ref, stamp) {
      const jobOf = (dispatchId: string) => jobs.batched({ companyId: ref.companyId, dispatchId })
      await changeBatchIn(database, queries, ref, { from: unfinished, to: 'cancelled', jobOf, ...stamp })
    },

    retry: (request) => retry(needs, request)
  }
}

/** Undefined where there is none that the actor may see. Throws `conflict` where the batch is in no state for it. */
async function change (
  { database, jobs, now }: Pick<Needs, 'database' | 'jobs' | 'now'>,
  { actor, author, batchId }: BatchRequest,
  how: { from: readonly BatchRow['status'][], to: 'paused' | 'resumed' | 'cancelled', approved?: true }
): Promise<BatchView | undefined> {
  const ref = { companyId: actor.companyId, batchId }
  const batch = await findBatch(database, ref, sightOf(actor))
  if (batch === undefined) return undefined
  const changed = await changeBatch(database, ref, {
    ...how,
    author,
    at: now(),
    jobOf: (dispatchId) => jobs.batched({ companyId: actor.companyId, dispatchId })
  })
  if (changed === undefined) throw inNoState(batch)
  return viewOf(changed)
}

/** The results of its rows, a page after the other. */
async function* pagesOf (
  { database }: Pick<Needs, 'database'>,
  batch: BatchRow,
  only: 'failed' | 'refused' | undefined
): AsyncGenerator<ResultView[], void> {
  const ref = { companyId: batch.company_id, batchId: batch.batch_id }
  const more = only === undefined ? {} : { states: only === 'failed' ? ['failed', 'partial'] as const : ['refused'] as const }
  let after = 0
  for (;;) {
    const rows = await listResults(database, ref, { after, limit: resultsTogether, ...more })
    if (rows.length > 0) yield rows.map((row) => resultOf(batch, row))
    if (rows.length < resultsTogether) return
    after = rows.at(-1)?.number ?? after
  }
}

async function kept (
  { database }: Pick<Needs, 'database'>,
  ref: BatchRef,
  page: { after: number, limit: number, search?: string | undefined }
): Promise<{ rows: KeptRowView[], next: number | null }> {
  const batch = await findBatch(database, ref, {})
  if (batch === undefined) return { rows: [], next: null }
  const { rows, next } = await listKeptRows(database, ref, page)
  const common = await readCommon(database, ref)
  return { rows: rows.map((row) => keptOf(batch, common, row)), next }
}

async function retry (
  { database, now }: Pick<Needs, 'database' | 'now'>,
  { actor, author, batchId }: BatchRequest
): Promise<BatchView | undefined> {
  const ref = { companyId: actor.companyId, batchId }
  const batch = await findBatch(database, ref, sightOf(actor))
  if (batch === undefined) return undefined
  const retried = await retryBatch(database, ref, { from: ['running', 'paused', 'finished'], author, at: now() })
  if (retried === 'nothing') {
    throw new DispatchError('conflict', 'No row of the batch has failed or was refused.', { reason: 'nothing_there' })
  }
  if (retried === undefined) throw inNoState(batch)
  return viewOf(retried)
}

function inNoState ({ status, problem }: BatchRow): DispatchError {
  if (status === 'paused' && problem?.includes('"approval_required"') === true) {
    return new DispatchError('conflict', 'Somebody else has to approve the batch: it goes on when they do.', { reason: 'needs_approval' })
  }
  return new DispatchError('conflict', `The batch is "${status}", which does not allow this.`, { reason: 'state_forbids' })
}
