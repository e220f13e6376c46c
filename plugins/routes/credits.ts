import { readLedger } from '@dispatch/accounts'
import { CreditsView, PageQuery } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { pageOf } from './paging.ts'

/** The company's credits and their ledger. */
export const creditsRoutes: FastifyPluginCallbackTypebox<{ database: Database }> = (app, { database }, done) => {
  app.get('/api/v1/credits', {
    config: { scopes: 'any', errors: ['validation_error'] },
    schema: {
      operationId: 'readCredits',
      tags: ['Credits'],
      summary: 'Reads the credits of the company and their ledger, the newest entry first.',
      querystring: PageQuery,
      response: { 200: CreditsView }
    }
  }, async ({ actor, query: { limit = 25, cursor } }) => {
    const { ledger: found, ...credits } = await readLedger(database, actor, {
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: cursor })
    })
    const { data: ledger, nextCursor } = pageOf(found, limit, ({ id }) => id)
    return { ...credits, ledger, nextCursor }
  })
  done()
}
