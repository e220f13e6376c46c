import { page, UuidPageQuery } from '@dispatch/contract'
import { auditAuthorOf, contentDisposition, decoded, integerIn, pageOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { ExportQuery, ImportBody, ImportQuery, ImportView, RemovalQuery, SuppressionBody, SuppressionFilter, SuppressionView,
  TransactionalBody, TransactionalView } from '../contract/suppressions.ts'
import { asCsv, asNdjson, readCsv } from '../service/files.ts'
import type { Suppressions } from '../service/suppressions.ts'

const tags = ['Suppressions']

type Named = { Params: { id: string } }

const ListQuery = Type.Object({ ...UuidPageQuery.properties, ...SuppressionFilter }, { additionalProperties: false })

const written = { ndjson: { type: 'application/x-ndjson', write: asNdjson }, csv: { type: 'text/csv; charset=utf-8', write: asCsv } }

const File = {
  description:
    'All of them, the newest first: an object on each line (`Suppression`), or CSV with the columns channel, address, reason, note ' +
    'and since.',
  content: { 'application/x-ndjson': { schema: SuppressionView }, 'text/csv': { schema: { type: 'string' } } }
}

type Needs = { suppressions: Suppressions }

const by = (request: FastifyRequest) => ({ actor: request.actor, author: auditAuthorOf(request) })

/** One suppression after the other, and many at once. */
const listRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { suppressions }, done) => {
  app.get('/api/v1/suppressions', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listSuppressions',
      tags,
      summary: 'Lists to whom the company sends nothing, the newest first.',
      querystring: ListQuery,
      response: { 200: page(SuppressionView) }
    }
  }, async ({ actor, query: { limit = 25, cursor, ...filter } }) => {
    const found = await suppressions.list(actor.companyId, filter, { limit: limit + 1, after: cursor })
    return pageOf(found, limit, ({ id }) => id)
  })

  app.post('/api/v1/suppressions', {
    config: { errors: ['validation_error', 'validation_failed'] },
    schema: {
      operationId: 'addSuppression',
      tags,
      summary: 'Sends nothing to an address any more.',
      description: 'A dispatch to it is 422 `suppressed` from then on, and so is whatever waits for it, unless its template is marked as ' +
        'transactional for the reason. An address that stands in the list already stays as it is: 200 instead of 201.',
      body: SuppressionBody,
      response: { 200: SuppressionView, 201: SuppressionView }
    }
  }, async (request, reply) => {
    const { suppression, isNew } = await suppressions.add(by(request), request.body)
    return reply.code(isNew ? 201 : 200).send(suppression)
  })

  app.post<{ Body: ImportBody, Querystring: ImportQuery }>('/api/v1/suppressions/import', {
    config: { errors: ['validation_error', 'validation_failed', 'payload_too_large'] },
    schema: {
      operationId: 'importSuppressions',
      tags,
      summary: 'Adds many suppressions: all of them, or none.',
      description:
        'JSON, or CSV (`text/csv`, UTF-8, with a heading): the column address and, where you want, channel, reason and note; the ' +
        'query says what the rows do not. At most 5 MiB and 100,000 addresses; JSON has at most 100,000 values in all.',
      consumes: ['application/json', 'text/csv'],
      querystring: ImportQuery,
      body: ImportBody,
      response: { 200: ImportView }
    }
  }, async (request) => await suppressions.import(by(request), request.body.suppressions))

  app.get<{ Querystring: Static<typeof ExportQuery> }>('/api/v1/suppressions/export', {
    config: { errors: ['validation_error'], lasting: true },
    schema: {
      operationId: 'exportSuppressions',
      tags,
      summary: 'Downloads to whom the company sends nothing.',
      querystring: ExportQuery,
      response: { 200: File }
    }
  }, async ({ actor, query: { format = 'ndjson', ...filter } }, reply) => {
    const { type, write } = written[format]
    return reply.headers({
      'content-type': type,
      'content-disposition': contentDisposition(`suppressions.${format}`),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    }).send(Readable.from(write(suppressions.all(actor.companyId, filter))))
  })
  done()
}

/** Templates that are sent all the same. */
const transactionalRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { suppressions }, done) => {
  app.get('/api/v1/suppressions/templates', {
    config: { errors: [] },
    schema: {
      operationId: 'listTransactionalTemplates',
      tags,
      summary: 'Lists the templates that are sent to suppressed recipients all the same, for some reasons.',
      response: { 200: page(TransactionalView) }
    }
  }, async ({ actor }) => ({ data: await suppressions.transactional(actor.companyId), nextCursor: null }))

  app.put<Named & { Body: TransactionalBody }>('/api/v1/suppressions/templates/:id', {
    config: { errors: ['validation_error', 'template_not_found', 'not_found'] },
    schema: {
      operationId: 'markTransactional',
      tags,
      summary: 'Says for which reasons a template is sent to suppressed recipients all the same.',
      description: 'For what its recipient has to get whatever they want, such as an invoice.',
      body: TransactionalBody,
      response: { 200: TransactionalView }
    }
  }, async (request) => {
    const { params: { id }, body: { reasons } } = request
    const templateId = integerIn(id)
    if (templateId === undefined) throw resourceNotFound('template', id)
    return await suppressions.setTransactional(by(request), { templateId, reasons })
  })
  done()
}

/** A suppression by its id. */
const oneRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { suppressions }, done) => {
  app.get<Named>('/api/v1/suppressions/:id', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'readSuppression', tags, summary: 'Reads a suppression.', response: { 200: SuppressionView } }
  }, async ({ actor, params: { id } }) => {
    const suppression = await suppressions.find(actor.companyId, uuidIn(id, 'suppression'))
    if (suppression === undefined) throw resourceNotFound('suppression', id)
    return suppression
  })

  app.delete<Named & { Querystring: Static<typeof RemovalQuery> }>('/api/v1/suppressions/:id', {
    config: { errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'removeSuppression',
      tags,
      summary: 'Sends to an address again. The query says why, for the audit log.',
      querystring: RemovalQuery,
      response: { 204: Type.Null() }
    }
  }, async (request, reply) => {
    const { params: { id }, query: { why } } = request
    if (!await suppressions.remove(by(request), uuidIn(id, 'suppression'), why)) throw resourceNotFound('suppression', id)
    return reply.code(204).send(null)
  })
  done()
}

/** To whom a company sends nothing. */
export const suppressionRoutes: FastifyPluginAsyncTypebox<Needs> = async (app, needs) => {
  app.addContentTypeParser('text/csv', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const bytes = await decoded(body, request.headers['content-encoding'], request.routeOptions.bodyLimit)
    const { channel, reason } = request.query as ImportQuery
    return await readCsv(bytes, { ...channel !== undefined && { channel }, ...reason !== undefined && { reason } })
  })
  await app.register(listRoutes, needs)
  await app.register(transactionalRoutes, needs)
  await app.register(oneRoutes, needs)
}
