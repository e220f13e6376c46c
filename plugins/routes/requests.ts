import { readLogCounts, readRequestLog } from '@dispatch/accounts'
import { LogCountView, page, RequestQuery, RequestView } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { pageOf } from './paging.ts'

const RequestPage = Type.Object({
  ...page(RequestView).properties,
  counted: Type.Array(LogCountView, {
    description: 'What has not been kept, because the company had used up its share of the log: counts in place of entries, the newest ' +
      'hundred. Empty on further pages.'
  })
}, { title: 'LoggedRequests' })

/** The requests of a company in the last days. */
export const requestsRoutes: FastifyPluginCallbackTypebox<{ database: Database }> = (app, { database }, done) => {
  app.get('/api/v1/company/requests', {
    config: { scopes: ['audit'], everyService: 'of keys', roles: ['admin', 'operator'], errors: ['validation_error'] },
    schema: {
      operationId: 'listRequests',
      tags: ['Company'],
      summary: 'Lists the requests of the company in the last 7 days, the newest first, without bodies, queries and headers (admins).',
      description: 'A request is in the list about a second after its answer.',
      querystring: RequestQuery,
      response: { 200: RequestPage }
    }
  }, async ({ actor, query: { limit = 25, cursor, from, to, ...filter } }) => {
    const times = { ...(from === undefined ? {} : { from: new Date(from) }), ...(to === undefined ? {} : { to: new Date(to) }) }
    const found = await readRequestLog(database, actor.companyId, { ...filter, ...times }, {
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: cursor })
    })
    const counted = cursor === undefined ? await readLogCounts(database, actor.companyId) : []
    return { ...pageOf(found, limit, ({ id }) => id), counted }
  })
  done()
}
