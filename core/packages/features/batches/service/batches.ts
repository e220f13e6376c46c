import { type Actor, type AuditAuthor, type AuditStamp, requireService, sightOf } from '@dispatch/accounts'
import { canonicalJson, createFairSemaphore, type JsonObject, type Log } from '@dispatch/common'
import { type BatchView, chainFault, DispatchError, isPath, refusal, type ServicePath, type Version } from '@dispatch/contract'
import type { BatchToApprove, PipelineJobs, RowsToApprove } from '@dispatch/core'
import type { CompanyQueries, Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { isServiceName, jsonServices } from '@dispatch/services'
import { addressProblems, type Network } from '@dispatch/vendor-io'
import { createHash, type Hash } from 'node:crypto'
import type { BatchQuery, Mapping, ResultView } from '../contract/batches.ts'
import { type BatchRef, beginBatch, changeBatch, changeBatchIn, discardBatch, endReceiving, findBatch, listBatches,
  retryBatch } from '../store/batches.ts'
import { filesIn } from '../store/named-files.ts'
import { listKeptRows, listRowsToApprove } from '../store/row-facts.ts'
import { addRows, listResults, readCommon } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { readCsv } from './read-csv.ts'
import { readNdjson } from './read-ndjson.ts'
import { problemOf, type ReadItem, type ReadRow } from './row.ts'
import { batchToApprove, keptOf, type KeptRowView, resultOf, viewOf } from './view.ts'

/** The rows of a batch as they come. */
export type Upload = {
  format: 'ndjson' | 'csv'
  common?: JsonObject
  mapping?: Mapping
  bytes: AsyncIterable<Buffer>
}

/** Who sends a batch, and how. */
export type NewBatchRequest = {
  actor: Actor
  author: AuditAuthor
  query: BatchQuery
  version: Version
  idempotencyKey?: string
}

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
  asked: (actor: Actor, batchId: string) => Promise<{ batch: BatchToApprove, found: () => Promise<RowsToApprove[]> } | undefined>
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

type Options = {
  database: Database
  jobs: Pick<PipelineJobs, 'batched'>
  log: Log
  network: Pick<Network, 'guard'>
  newId: () => string
  now: () => Date
  /** The most rows of a batch, and bytes of its file. */
  limits?: { rows: number, bytes: number }
}

/** The most rows of a batch, and bytes of its file. */
export const [maxRows, maxBytes] = [100_000, 256 * 1024 * 1024]
const usual = { rows: maxRows, bytes: maxBytes }
/** The most batches of a company that are not over. */
const maxOpen = 20
/** What can be cancelled. */
const unfinished = ['checking', 'queued', 'running', 'paused'] as const
/** The most files that a batch is noted to name. */
const maxFiles = 10_000
/** Rows, and characters of their bodies, that are stored together. */
const [rowsTogether, charactersTogether] = [500, 1024 * 1024]
/** Rows on a page of results. */
const resultsTogether = 1_000

/** Creates the batches of companies. */
export function createBatches ({ database, jobs, log, network: { guard }, newId, now, limits = usual }: Options): Batches {
  const receiving = createFairSemaphore({
    total: 8,
    perOwner: 1,
    waiting: 4,
    full: () => new DispatchError('rate_limited', 'Other batches of the company are coming in: try again in a minute.', { retryAfter: 60 })
  })

  async function receive (ref: BatchRef, upload: Upload, fingerprint: Hash): Promise<BatchRow> {
    const counts = { total: 0, refused: 0 }
    let common = upload.common === undefined ? null : JSON.stringify(upload.common)
    let [waiting, characters]: [ReadRow[], number] = [[], 0]
    // There are no more files of a company than it may have.
    const files = new Set<string>()
    let fresh: string[] = []
    const nameIn = (request: string): void => {
      for (const id of filesIn(request)) {
        if (files.has(id) || files.size >= maxFiles) continue
        files.add(id)
        fresh.push(id)
      }
    }
    if (common !== null) nameIn(common)
    const store = async (): Promise<void> => {
      if (waiting.length > 0 && !await addRows(database, ref, waiting, fresh)) throw abandoned()
      ;[waiting, characters, fresh] = [[], 0, []]
    }
    for await (const item of itemsOf(upload, fingerprint, limits.bytes)) {
      if ('common' in item) {
        if (common !== null) throw refusal('validation_error', [{ path: '/common', code: 'contradiction', message: 'It is given twice.' }])
        common = JSON.stringify(item.common)
        nameIn(common)
        continue
      }
      if (++counts.total > limits.rows) {
        throw new DispatchError('payload_too_large', `A batch has at most ${limits.rows} rows: send the rest as another one.`)
      }
      if ('problem' in item) counts.refused++
      waiting.push(item)
      if ('body' in item) {
        characters += item.body.length
        nameIn(item.body)
      }
      if (waiting.length >= rowsTogether || characters >= charactersTogether) await store()
    }
    if (counts.total === 0) throw refusal('validation_error', [{ path: '/file', code: 'required', message: 'There is no row in it.' }])
    await store()
    const received = await endReceiving(database, ref, {
      fingerprint: fingerprint.digest('hex'),
      common,
      repeated: JSON.stringify(problemOf(refusal('validation_error', [{
        path: '/id',
        code: 'repeated_id',
        message: 'A row before it has the same id: each row has its own.'
      }]))),
      counts
    })
    if (received === undefined) throw abandoned()
    return received
  }

  /** The batch that has the key already, where the request is the same. */
  async function repeat ({ actor }: NewBatchRequest, taken: BatchRow, upload: Upload, fingerprint: Hash): Promise<BatchView> {
    const bits = bitsOf(upload, fingerprint, limits.bytes)
    while ((await bits.next()).done !== true) continue
    const ref = { companyId: actor.companyId, batchId: taken.batch_id }
    const seen = await findBatch(database, ref, sightOf(actor))
    if (seen === undefined || taken.fingerprint !== fingerprint.digest('hex')) {
      throw new DispatchError('idempotency_key_reused', 'This idempotency key was used with another batch: take a new key for a new batch.')
    }
    return viewOf(seen)
  }

  async function take (request: NewBatchRequest, open: () => Promise<Upload>): Promise<{ batch: BatchView, replayed: boolean }> {
    const { actor, author, query, version, idempotencyKey } = request
    const services = pathIn(query.service)
    for (const service of services) requireService(actor, service)
    const problems = addressProblems(guard, query.callbackUrl, { path: '/query/callbackUrl', what: 'Callbacks' })
    if (problems.length > 0) throw refusal('validation_failed', problems)
    const { mode = 'all', sandbox = false, strict = false, hold = false, callbackUrl } = query
    const ref = { companyId: actor.companyId, batchId: newId() }
    const begun = await beginBatch(database, {
      ...ref,
      actor,
      services,
      test: sandbox || actor.key?.mode === 'test',
      mode,
      sandbox,
      strict,
      held: hold,
      version,
      requestId: author.requestId,
      ...callbackUrl === undefined ? {} : { callbackUrl },
      ...idempotencyKey === undefined ? {} : { idempotencyKey },
      at: now()
    }, maxOpen)
    if (begun === 'receiving') {
      throw new DispatchError('idempotency_in_progress', 'The first batch with this idempotency key is still coming in: ask again later.')
    }
    if (begun === 'many') {
      throw new DispatchError('rate_limited', `${maxOpen} batches of the company are not over: send this one when one of them is.`, {
        retryAfter: 60
      })
    }
    const fingerprint = createHash('sha256').update(
      canonicalJson({ ...query, mode, sandbox, strict, hold, test: actor.key?.mode === 'test' })
    )
    if (begun !== 'begun') return { batch: await repeat(request, begun, await open(), fingerprint), replayed: true }
    try {
      return { batch: viewOf(await receive(ref, await open(), fingerprint)), replayed: false }
    } catch (error) {
      // What is left is removed later.
      await discardBatch(database, ref).catch((err: unknown) => {
        log.warn({ err, ...ref }, 'the rows of a batch that did not come in stay for some minutes')
      })
      throw error
    }
  }

  async function change (
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

  async function* pagesOf (batch: BatchRow, only: 'failed' | 'refused' | undefined): AsyncGenerator<ResultView[], void> {
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

  return {
    take: (request, upload) => receiving.run(request.actor.companyId, () => take(request, upload)),

    async find (actor, batchId) {
      const batch = await findBatch(database, { companyId: actor.companyId, batchId }, sightOf(actor))
      return batch && viewOf(batch)
    },

    list: async (actor, page) => (await listBatches(database, actor.companyId, sightOf(actor), page)).map(viewOf),

    async results (actor, batchId, only) {
      const batch = await findBatch(database, { companyId: actor.companyId, batchId }, sightOf(actor))
      return batch && pagesOf(batch, only)
    },

    pause: (request) => change(request, { from: ['checking', 'queued', 'running'], to: 'paused' }),
    resume: (request) => change(request, { from: ['paused'], to: 'resumed' }),
    resumeApproved: (request) => change(request, { from: ['paused'], to: 'resumed', approved: true }),
    cancel: (request) => change(request, { from: [...unfinished], to: 'cancelled' }),

    async asked (actor, batchId) {
      const ref = { companyId: actor.companyId, batchId }
      const batch = await findBatch(database, ref, {})
      return batch && { batch: batchToApprove(batch, actor), found: () => listRowsToApprove(database, ref) }
    },

    async kept (ref, page) {
      const batch = await findBatch(database, ref, {})
      if (batch === undefined) return { rows: [], next: null }
      const { rows, next } = await listKeptRows(database, ref, page)
      const common = await readCommon(database, ref)
      return { rows: rows.map((row) => keptOf(batch, common, row)), next }
    },

    async end (queries, ref, stamp) {
      const jobOf = (dispatchId: string) => jobs.batched({ companyId: ref.companyId, dispatchId })
      await changeBatchIn(database, queries, ref, { from: unfinished, to: 'cancelled', jobOf, ...stamp })
    },

    async retry ({ actor, author, batchId }) {
      const ref = { companyId: actor.companyId, batchId }
      const batch = await findBatch(database, ref, sightOf(actor))
      if (batch === undefined) return undefined
      const retried = await retryBatch(database, ref, { from: ['running', 'paused', 'finished'], author, at: now() })
      if (retried === 'nothing') throw new DispatchError('conflict', 'No row of the batch has failed or was refused.')
      if (retried === undefined) throw inNoState(batch)
      return viewOf(retried)
    }
  }
}

function pathIn (service: string): ServicePath {
  const path = service.split('/').filter(isServiceName)
  const problem = (message: string): DispatchError => refusal('validation_error', [{ path: '/query/service', code: 'enum', message }])
  if (path.join('/') !== service) {
    throw problem(
      `"${service}" names no services as the path of a dispatch does, such as invoicing/email; there are ${jsonServices.join(', ')}.`
    )
  }
  const fault = chainFault(path)
  if (!isPath(path) || fault !== undefined) throw problem(fault ?? 'These services cannot follow each other.')
  if (!jsonServices.some((name) => name === path[0])) {
    throw problem(`The service "${service}" takes a file with each request: send them singly.`)
  }
  return path
}

/** The bytes of the file, up to the limit; their digest is that of the request, with the texts before them. */
async function* bitsOf (
  { common, mapping, format, bytes }: Upload,
  fingerprint: Hash,
  max: number
): AsyncGenerator<Buffer, void> {
  fingerprint.update(canonicalJson([format, common ?? null, mapping ?? null]))
  let size = 0
  for await (const bit of bytes) {
    size += bit.length
    if (size > max) {
      throw new DispatchError('payload_too_large', `A batch has at most ${max / 1024 / 1024} MiB, once it is decoded.`)
    }
    fingerprint.update(bit)
    yield bit
  }
}

function itemsOf (upload: Upload, fingerprint: Hash, max: number): AsyncIterable<ReadItem> {
  const bits = bitsOf(upload, fingerprint, max)
  return upload.format === 'csv' ? readCsv(bits, upload.mapping) : readNdjson(bits)
}

function abandoned (): DispatchError {
  return new DispatchError('timeout', 'The rows came too slowly, and none of them is kept: send the batch again.')
}

function inNoState ({ status, problem }: BatchRow): DispatchError {
  if (status === 'paused' && problem?.includes('"approval_required"') === true) {
    return new DispatchError('conflict', 'Somebody else has to approve the batch: it goes on when they do.')
  }
  return new DispatchError('conflict', `The batch is "${status}", which does not allow this.`)
}
