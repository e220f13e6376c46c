import { page, UuidPageQuery } from '@dispatch/contract'
import { auditAuthorOf, contentDisposition, goneSignal, pageOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Readable } from 'node:stream'
import { ErasureBody, ErasureView, ExportLine, PersonBody, ReceiptView } from '../contract/erasures.ts'
import type { Erasures, Line } from '../service/erasures.ts'

const tags = ['Privacy']

type Named = { Params: { id: string } }

const File = {
  description: 'All that is held about the person: an object on each line (`ExportLine`). The last one is the `end`, with counts.',
  content: { 'application/x-ndjson': { schema: ExportLine } }
}

/** What companies hold about persons. */
export const privacyRoutes: FastifyPluginCallbackTypebox<{ erasures: Erasures }> = (app, { erasures }, done) => {
  app.post('/api/v1/privacy/erasures', {
    config: { errors: ['validation_error', 'validation_failed'] },
    schema: {
      operationId: 'createErasure',
      tags,
      summary: 'Erases all that the company holds about a person, for good.',
      description:
        'What there is when it is asked for: documents, data, texts, recipients, timelines, exchanges with vendors, bodies of callbacks, ' +
        'rows of batches, drafts, proposals, approvals, contacts, uploaded files. A dispatch to the person that waits is cancelled; one ' +
        'that runs ends first. Credits, the ledger and counts stay; a suppression stays as a hash. It cannot be taken back.',
      body: ErasureBody,
      response: { 202: ErasureView }
    }
  }, async (request, reply) => reply.code(202).send(await erasures.add(auditAuthorOf(request), request.body)))

  app.get('/api/v1/privacy/erasures', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listErasures',
      tags,
      summary: 'Lists erasures, the newest first.',
      querystring: UuidPageQuery,
      response: { 200: page(ErasureView) }
    }
  },
    async ({ actor, query: { limit = 25, cursor } }) =>
      pageOf(await erasures.list(actor.companyId, { limit: limit + 1, after: cursor }), limit, ({ id }) => id))

  app.get<Named>('/api/v1/privacy/erasures/:id', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'readErasure', tags, summary: 'Reads how far an erasure is.', response: { 200: ErasureView } }
  }, async ({ actor, params: { id } }) => {
    const erasure = await erasures.find(actor.companyId, uuidIn(id, 'erasure'))
    if (erasure === undefined) throw resourceNotFound('erasure', id)
    return erasure
  })

  app.post<Named>('/api/v1/privacy/erasures/:id/begin', {
    config: { errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'beginErasure',
      tags,
      summary: 'Begins an erasure that was counted. It cannot be taken back.',
      response: { 202: ErasureView }
    }
  }, async (request, reply) => {
    const { params: { id } } = request
    const erasure = await erasures.begin(auditAuthorOf(request), uuidIn(id, 'erasure'))
    if (erasure === undefined) throw resourceNotFound('erasure', id)
    return reply.code(202).send(erasure)
  })

  app.get<Named>('/api/v1/privacy/erasures/:id/receipt', {
    config: { errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'readErasureReceipt',
      tags,
      summary: 'Reads the receipt of a finished erasure.',
      description: 'Anybody can check it: the SHA-256 of the text is the digest beside it, and stands in the audit log.',
      response: { 200: ReceiptView }
    }
  }, async ({ actor, params: { id } }) => {
    const receipt = await erasures.receipt(actor.companyId, uuidIn(id, 'erasure'))
    if (receipt === undefined) throw resourceNotFound('erasure', id)
    return receipt
  })

  app.post<{ Body: PersonBody }>('/api/v1/privacy/exports', {
    config: { errors: ['validation_error', 'validation_failed'], lasting: true },
    schema: {
      operationId: 'exportPerson',
      tags,
      summary: 'Downloads all that the company holds about a person.',
      description: 'Documents are named with their ids: `GET /api/v1/documents/{id}` downloads them. The audit log says who asked for it.',
      body: PersonBody,
      response: { 200: File }
    }
  }, async (request, reply) => {
    const lines = await erasures.export(auditAuthorOf(request), request.body, goneSignal(reply))
    return reply.headers({
      'content-type': 'application/x-ndjson',
      'content-disposition': contentDisposition('person.ndjson'),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    }).send(Readable.from(asNdjson(lines, longestWait, () => reply.raw.destroy())))
  })
  done()
}

/** Milliseconds that a line waits for its client: one that does not read leaves its place to others. */
const longestWait = 60_000

/** `cut`: what ends a client that does not take a line for so many milliseconds. */
export async function* asNdjson (lines: AsyncIterable<Line>, wait: number, cut: () => void): AsyncGenerator<string, void> {
  for await (const line of lines) {
    const timer = setTimeout(cut, wait).unref()
    try {
      yield `${JSON.stringify(line)}\n`
    } finally {
      clearTimeout(timer)
    }
  }
}
