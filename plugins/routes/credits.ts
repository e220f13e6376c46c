import { CreditsView, type Database, maySee, PageQuery, readCredits } from '@dispatch/core'
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
  }, async ({ actor, query }) => {
    const { limit = 25, cursor } = query
    // What is in the ledger is real.
    const dispatches = maySee(actor, { test: false }) ? {} : { dispatches: 'none' } as const
    const { ledger, ...credits } = await readCredits(database, actor.companyId, {
      limit,
      ...dispatches,
      ...(cursor === undefined ? {} : { after: cursor })
    })
    return {
      ...credits,
      ledger: ledger.map((entry) => ({
        id: entry.entry_id,
        kind: entry.kind,
        amount: Number(entry.amount),
        balance: Number(entry.balance),
        ...(entry.dispatch_id === null ? {} : { dispatchId: entry.dispatch_id }),
        reason: entry.reason,
        at: entry.at.toISOString()
      })),
      nextCursor: nextCursorOf(ledger, limit, ({ entry_id: id }) => id)
    }
  })
  done()
}
