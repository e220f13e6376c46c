import { contentDisposition } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { UsageQuery, UsageView } from '../contract/usage.ts'
import { asCsv } from '../service/csv.ts'
import type { Usage } from '../service/usage.ts'

const tags = ['Usage']
const File = {
  description: 'CSV with a heading: the columns of a row (`UsageRow`), and one for each kind of failure, delivery status and mark.',
  content: { 'text/csv': { schema: { type: 'string' } } }
}

/** What a company has used. */
export const usageRoutes: FastifyPluginCallbackTypebox<{ usage: Usage }> = (app, { usage }, done) => {
  app.get<{ Querystring: UsageQuery }>('/api/v1/usage', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'readUsage',
      tags,
      summary: 'Tells what the company has sent, and what became of it.',
      description: 'Counted within a minute or two, by the hour (UTC) in which dispatches were created. Counts stay when dispatches are ' +
        'forgotten; by metadata those are counted that are stored.',
      querystring: UsageQuery,
      response: { 200: UsageView }
    }
  }, async ({ actor, query }) => await usage.read(actor, query))

  app.get<{ Querystring: UsageQuery }>('/api/v1/usage/export', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'exportUsage',
      tags,
      summary: 'Downloads the same as CSV.',
      querystring: UsageQuery,
      response: { 200: File }
    }
  }, async ({ actor, query }, reply) => {
    const reported = await usage.read(actor, query)
    return reply.headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': contentDisposition('usage.csv'),
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store'
    }).send(asCsv(reported, query))
  })
  done()
}
