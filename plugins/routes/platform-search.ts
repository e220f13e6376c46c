import { FoundDispatchView, page, PlatformSearchQuery } from '@dispatch/contract'
import { searchEverywhere } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { pageOf } from './paging.ts'

/** "Why did this invoice not go out?": one search over all companies, for operators. */
export const platformSearchRoutes: FastifyPluginCallbackTypebox<{ database: Database, now: () => Date }> = (
  app,
  { database, now },
  done
) => {
  app.get('/api/v1/platform/dispatches', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['validation_error'] },
    schema: {
      operationId: 'searchPlatform',
      tags: ['Platform'],
      summary: 'Finds dispatches of all companies by document number, recipient or id, the newest first, with what each step came to ' +
        '(operators).',
      description: 'The audit log of each company says which of its dispatches were shown, and that of the platform how many.',
      querystring: PlatformSearchQuery,
      response: { 200: page(FoundDispatchView) }
    }
  }, async (request) => {
    const { search, limit = 25, cursor } = request.query
    const desired = { search, limit, ...cursor === undefined ? {} : { after: cursor } }
    const found = await searchEverywhere(database, desired, { author: auditAuthorOf(request), at: now() })
    return pageOf(found, limit, ({ dispatchId }) => dispatchId)
  })
  done()
}
