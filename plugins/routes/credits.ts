import { sightOf } from '@dispatch/accounts'
import { CreditsView, PageQuery } from '@dispatch/contract'
import { readCredits } from '@dispatch/credits'
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
    // The dispatches in the ledger are no tests, and of all users. An entry tells no more of one than its price.
    const { test, userId } = sightOf(actor)
    const { ledger: found, ...credits } = await readCredits(database, actor.companyId, {
      limit: limit + 1,
      ...(test === undefined && userId === undefined ? {} : { dispatches: 'none' }),
      ...(cursor === undefined ? {} : { after: cursor })
    })
    const { data: ledger, nextCursor } = pageOf(found, limit, ({ id }) => id)
    return { ...credits, ledger, nextCursor }
  })
  done()
}
