import { readAuditLog } from '@dispatch/accounts'
import { AuditQuery, AuditView, page } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { pageOf } from './paging.ts'
import { resourceNotFound } from './path-parameters.ts'

/** Who changed what: of the company for its admins, of any company for operators. */
export const auditRoutes: FastifyPluginCallbackTypebox<{ database: Database }> = (app, { database }, done) => {
  app.get('/api/v1/audit', {
    config: { scopes: ['audit'], everyService: 'of keys', roles: ['admin', 'operator'], errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'listAuditEntries',
      tags: ['Company'],
      summary: 'Lists the changes of the company, the newest first: who made them, acting for whom, from where, and to what (admins; ' +
        'operators of any company).',
      querystring: AuditQuery,
      response: { 200: page(AuditView) }
    }
  }, async ({ actor, query: { limit = 25, cursor, from, to, ...filter } }) => {
    const times = { ...(from === undefined ? {} : { from: new Date(from) }), ...(to === undefined ? {} : { to: new Date(to) }) }
    const found = await readAuditLog(database, actor, { ...filter, ...times }, {
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: cursor })
    })
    if (found === undefined) throw resourceNotFound('company', String(filter.companyId))
    return pageOf(found, limit, ({ id }) => id)
  })
  done()
}
