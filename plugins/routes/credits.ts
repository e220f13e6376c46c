import { CreditsView, type Database, PageQuery, readLedger } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { nextCursorOf } from './paging.ts'

/** The company's credits and their ledger. */
export const creditsRoutes: FastifyPluginCallbackTypebox<{ database: Database }> = (app, { database }, done) => {
  app.get('/api/v1/credits', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'readCredits',
      tags: ['Credits'],
      summary: 'Reads the credits of the company and their ledger, the newest entry first.',
      querystring: PageQuery,
      response: { 200: CreditsView }
    }
  }, async ({ actor, query: { limit = 25, cursor } }) => {
    const credits = await readLedger(database, actor, { limit, ...(cursor === undefined ? {} : { after: cursor }) })
    return { ...credits, nextCursor: nextCursorOf(credits.ledger, limit, ({ id }) => id) }
  })
  done()
}
