import { type Actor, type AuditAuthor, requireService, sightOf } from '@dispatch/accounts'
import { canonicalJson, type JsonObject, type Log } from '@dispatch/common'
import { type BatchView, chainFault, DispatchError, isPath, refusal, type ServicePath, type Version } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { isServiceName, jsonServices } from '@dispatch/services'
import { addressProblems, type Network } from '@dispatch/vendor-io'
import { createHash, type Hash } from 'node:crypto'
import type { BatchQuery, Mapping } from '../contract/batches.ts'
import { type BatchRef, beginBatch, discardBatch, endReceiving, findBatch } from '../store/batches.ts'
import { filesIn } from '../store/named-files.ts'
import { addRows } from '../store/rows.ts'
import type { BatchRow } from '../store/tables.ts'
import { readCsv } from './read-csv.ts'
import { readNdjson } from './read-ndjson.ts'
import { problemOf, type ReadItem, type ReadRow } from './row.ts'
import { viewOf } from './view.ts'

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

/** What takes batches in uses of the service. `limits`: the most rows of one, and bytes of its file. */
export type ReceivingNeeds = {
  database: Database
  guard: Network['guard']
  limits: { rows: number, bytes: number }
  log: Log
  newId: () => string
  now: () => Date
}

/** The most batches of a company that are not over. */
const maxOpen = 20

/** The most files that a batch is noted to name. */
const maxFiles = 10_000

/** Rows, and characters of their bodies, that are stored together. */
const [rowsTogether, charactersTogether] = [500, 1024 * 1024]

/** Writes rows as they come, many together, with the files that they name. */
function createRowWriter ({ database }: Pick<ReceivingNeeds, 'database'>, ref: BatchRef) {
  let [waiting, characters]: [ReadRow[], number] = [[], 0]
  // There are no more files of a company than it may have.
  const files = new Set<string>()
  let fresh: string[] = []

  function nameFiles (request: string): void {
    for (const id of filesIn(request)) {
      if (files.has(id) || files.size >= maxFiles) continue
      files.add(id)
      fresh.push(id)
    }
  }

  async function flush (): Promise<void> {
    if (waiting.length > 0 && !await addRows(database, ref, waiting, fresh)) throw abandoned()
    ;[waiting, characters, fresh] = [[], 0, []]
  }

  return {
    nameFiles,
    flush,
    async write (row: ReadRow): Promise<void> {
      waiting.push(row)
      if ('body' in row) {
        characters += row.body.length
        nameFiles(row.body)
      }
      if (waiting.length >= rowsTogether || characters >= charactersTogether) await flush()
    }
  }
}

/** Reads the file to its end, and stores its rows. Throws where it is no batch, or too large. */
async function receive (
  needs: Pick<ReceivingNeeds, 'database' | 'limits'>,
  ref: BatchRef,
  upload: Upload,
  fingerprint: Hash
): Promise<BatchRow> {
  const { database, limits } = needs
  const counts = { total: 0, refused: 0 }
  let common = upload.common === undefined ? null : JSON.stringify(upload.common)
  const writer = createRowWriter(needs, ref)
  if (common !== null) writer.nameFiles(common)
  for await (const item of itemsOf(upload, fingerprint, limits.bytes)) {
    if ('common' in item) {
      if (common !== null) throw refusal('validation_error', [{ path: '/common', code: 'contradiction', message: 'It is given twice.' }])
      common = JSON.stringify(item.common)
      writer.nameFiles(common)
      continue
    }
    if (++counts.total > limits.rows) {
      throw new DispatchError('payload_too_large', `A batch has at most ${limits.rows} rows: send the rest as another one.`)
    }
    if ('problem' in item) counts.refused++
    await writer.write(item)
  }
  if (counts.total === 0) throw refusal('validation_error', [{ path: '/file', code: 'required', message: 'There is no row in it.' }])
  await writer.flush()
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
async function repeat (
  { database, limits }: Pick<ReceivingNeeds, 'database' | 'limits'>,
  { actor }: NewBatchRequest,
  taken: BatchRow,
  upload: Upload,
  fingerprint: Hash
): Promise<BatchView> {
  const bits = bitsOf(upload, fingerprint, limits.bytes)
  while ((await bits.next()).done !== true) continue
  const ref = { companyId: actor.companyId, batchId: taken.batch_id }
  const seen = await findBatch(database, ref, sightOf(actor))
  if (seen === undefined || taken.fingerprint !== fingerprint.digest('hex')) {
    throw new DispatchError('idempotency_key_reused', 'This idempotency key was used with another batch: take a new key for a new batch.')
  }
  return viewOf(seen)
}

/** Takes a batch in, or finds the one that has the key already. Nothing is kept of what throws. */
export async function take (
  needs: ReceivingNeeds,
  request: NewBatchRequest,
  open: () => Promise<Upload>
): Promise<{ batch: BatchView, replayed: boolean }> {
  const { database, guard, log, newId, now } = needs
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
  if (begun !== 'begun') return { batch: await repeat(needs, request, begun, await open(), fingerprint), replayed: true }
  try {
    return { batch: viewOf(await receive(needs, ref, await open(), fingerprint)), replayed: false }
  } catch (error) {
    // What is left is removed later.
    await discardBatch(database, ref).catch((err: unknown) => {
      log.warn({ err, ...ref }, 'the rows of a batch that did not come in stay for some minutes')
    })
    throw error
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
