import { BatchView, type ErrorWord, IdempotencyHeaders, page, type Version } from '@dispatch/contract'
import { auditAuthorOf, compileValidator, contentDisposition, idempotencyKeyOf, pageOf, resourceNotFound,
  uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Readable } from 'node:stream'
import { BatchForm, BatchListQuery, BatchQuery, ResultsQuery, ResultView } from '../contract/batches.ts'
import type { Batches } from '../service/batches.ts'
import { asCsv, asNdjson } from '../service/results.ts'
import { inVersion } from '../service/view.ts'
import { formats, uploadIn } from './upload.ts'

const tags = ['Batches']
/** A batch as a client reads it, for the documentation. */
const example: BatchView = {
  batchId: '01929f3c-6a1b-7c44-9f0e-2d5b8a7c1e90',
  status: 'running',
  service: 'invoicing/email',
  mode: 'all',
  test: false,
  counts: {
    total: 1000,
    unchecked: 0,
    waiting: 588,
    running: 12,
    succeeded: 398,
    failed: 2,
    partial: 0,
    uncertain: 0,
    cancelled: 0,
    refused: 0
  },
  credits: 2000,
  createdAt: '2026-11-27T08:00:00.000Z',
  finishedAt: null
}

type Named = { Params: { id: string } }

type Written = { type: string, write: (pages: AsyncIterable<readonly ResultView[]>, version: Version) => AsyncGenerator<string, void> }
const written: Readonly<Record<'ndjson' | 'csv', Written>> = {
  ndjson: { type: 'application/x-ndjson', write: asNdjson },
  csv: { type: 'text/csv; charset=utf-8', write: asCsv }
}

const Results = {
  description: 'The rows in their order: an object on each line (`BatchResult`), or CSV with the columns row, id, status, dispatchId, ' +
    'error, message and, since version 1.1.0, reason, in which an apostrophe stands before what a spreadsheet would take for a formula.',
  content: { 'application/x-ndjson': { schema: ResultView }, 'text/csv': { schema: { type: 'string' } } }
}

type Needs = { batches: Batches }

/** Taking a batch in. */
const takingRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { batches }, done) => {
  app.post<{ Querystring: BatchQuery }>('/api/v1/batches', {
    config: {
      errors: ['validation_failed', 'idempotency_in_progress', 'idempotency_key_reused', 'timeout'],
      limit: 'dispatch',
      replayable: true,
      readsBitByBit: true
    },
    schema: {
      operationId: 'createBatch',
      tags,
      summary: 'Takes in many dispatches in one file: CSV or NDJSON, up to 100,000 rows and 256 MiB.',
      description: 'Each row is the body of a dispatch, or what it changes of a body that all have in common (JSON Merge Patch, RFC ' +
        '7396): the text `common` of the form, or a first line `{"common":{…}}` of NDJSON. A row may have an `id`: it is its idempotency ' +
        'key, as `X-Idempotency-Key` of a single dispatch. CSV is UTF-8 with a heading, separated by commas, semicolons or tabs; its ' +
        'columns are JSON pointers, or `mapping` says where their cells stand. All rows are checked, and their price against the free ' +
        'credits, before anything is sent. The rows are sent behind what the company asks for singly. At each tenth and at the end a ' +
        'callback comes to the `callbackUrl` and the endpoints of the company (`batch.…`).',
      consumes: [...Object.keys(formats), 'multipart/form-data'],
      querystring: BatchQuery,
      headers: IdempotencyHeaders,
      body: BatchForm,
      response: { 202: BatchView }
    },
    // The parts of the body are checked as they come, and the header as that of a dispatch.
    validatorCompiler: (part) => part.httpPart === 'querystring' ? compileValidator(part) : (value: unknown) => ({ value })
  }, async (request, reply) => {
    const { actor, query, apiVersion: version } = request
    const { batch, replayed } = await batches.take(
      { actor, author: auditAuthorOf(request), query, version, ...idempotencyKeyOf(request) },
      () => uploadIn(request)
    )
    if (replayed) reply.header('idempotency-replayed', 'true')
    return reply.code(202).header('location', `/api/v1/batches/${batch.batchId}`).send(inVersion(batch, version))
  })
  done()
}

/** What has become of batches, and of their rows. */
const readingRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { batches }, done) => {
  app.get('/api/v1/batches', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listBatches',
      tags,
      summary: 'Lists the batches of the company, the newest first.',
      querystring: BatchListQuery,
      response: { 200: page(BatchView) }
    }
  }, async ({ actor, apiVersion, query: { limit = 25, cursor, ...only } }) => {
    const found = await batches.list(actor, { limit: limit + 1, ...only, ...cursor === undefined ? {} : { after: cursor } })
    return pageOf(found.map((batch) => inVersion(batch, apiVersion)), limit, ({ batchId }) => batchId)
  })

  app.get<Named>('/api/v1/batches/:id', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'readBatch',
      tags,
      summary: 'Reads how far a batch is.',
      response: { 200: { ...BatchView, examples: [example] } }
    }
  }, async ({ actor, apiVersion, params: { id } }) => {
    const batch = await batches.find(actor, uuidIn(id, 'batch'))
    if (batch === undefined) throw resourceNotFound('batch', id)
    return inVersion(batch, apiVersion)
  })

  app.get<Named & { Querystring: { format?: 'ndjson' | 'csv', status?: 'failed' | 'refused' } }>('/api/v1/batches/:id/results', {
    config: { errors: ['not_found'], lasting: true },
    schema: {
      operationId: 'downloadBatchResults',
      tags,
      summary: 'Downloads what has become of the rows of a batch until now.',
      querystring: ResultsQuery,
      response: { 200: Results }
    }
  }, async ({ actor, apiVersion, params: { id }, query: { format = 'ndjson', status } }, reply) => {
    const results = await batches.results(actor, uuidIn(id, 'batch'), status)
    if (results === undefined) throw resourceNotFound('batch', id)
    const { type, write } = written[format]
    return reply.headers({
      'content-type': type,
      'content-disposition': contentDisposition(`batch-${id}.${format}`),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store'
    }).send(Readable.from(write(results, apiVersion)))
  })
  done()
}

/** What is done with a batch that is there. */
const actionRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { batches }, done) => {
  const actions = [
    ['pause', 'pauseBatch',
      'Pauses a batch: what is under way goes on to its end; what is queued, also for its `sendAt`, waits until the batch goes on.'],
    ['resume', 'resumeBatch', 'Lets a paused batch go on.'],
    ['cancel', 'cancelBatch', 'Cancels the rows of a batch of which nothing has begun, also those that are queued for their `sendAt`.'],
    ['retry', 'retryBatch', 'Sends the rows of a batch again that failed or were refused; what a vendor has done is not repeated.']
  ] as const
  for (const [action, operationId, summary] of actions) {
    app.post<Named>(`/api/v1/batches/:id/${action}`, {
      config: { errors: ['not_found', 'conflict'] satisfies ErrorWord[] },
      schema: { operationId, tags, summary, response: { 200: BatchView } }
    }, async (request) => {
      const { actor, apiVersion, params: { id } } = request
      const batch = await batches[action]({ actor, author: auditAuthorOf(request), batchId: uuidIn(id, 'batch') })
      if (batch === undefined) throw resourceNotFound('batch', id)
      return inVersion(batch, apiVersion)
    })
  }
  done()
}

/** Many dispatches in one file. */
export const batchesRoutes: FastifyPluginAsyncTypebox<Needs> = async (app, needs) => {
  // The handler reads the body bit by bit.
  app.addContentTypeParser([...Object.keys(formats), 'multipart/form-data'], (_request, _body, parsed) => {
    parsed(null)
  })
  await app.register(takingRoutes, needs)
  await app.register(readingRoutes, needs)
  await app.register(actionRoutes, needs)
}
