import { type Database, HoldQuery, HoldView, listHolds, page, QueueView, readBacklog, ReleaseBody, type ReleaseQueue,
  ReleaseView } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { nextCursorOf } from './paging.ts'

/** The state of the queue, for operators; and the release of waiting dispatches when a provider works again. */
export const queueRoutes: FastifyPluginCallbackTypebox<{ database: Database, release: ReleaseQueue }> = (
  app,
  { database, release },
  done
) => {
  app.get('/api/v1/queue', {
    config: { roles: ['operator'], errors: [] },
    schema: {
      operationId: 'readQueue',
      tags: ['Platform'],
      summary: 'Shows what waits in the queue, for how long, and what is retried (operators).',
      response: { 200: QueueView }
    }
  }, () => readBacklog(database))

  app.get('/api/v1/queue/holds', {
    config: { roles: ['operator'], errors: ['validation_error'] },
    schema: {
      operationId: 'listHolds',
      tags: ['Platform'],
      summary: 'Lists the steps of all companies that hold credits or are in doubt, the oldest first (operators).',
      querystring: HoldQuery,
      response: { 200: page(HoldView) }
    }
  }, async ({ query: { uncertain = false, limit = 25, cursor } }) => {
    const found = await listHolds(database, { uncertain, limit, ...cursor === undefined ? {} : { after: cursor } })
    return { data: found, nextCursor: nextCursorOf(found, limit, ({ stepId }) => stepId) }
  })

  app.post('/api/v1/queue/release', {
    config: { roles: ['admin', 'operator'], errors: ['validation_error'] },
    schema: {
      operationId: 'releaseQueue',
      tags: ['Dispatches'],
      summary: 'Lets dispatches that wait for another try go on at once, after the outage of a provider: those of the company (admins), ' +
        'or of all (operators).',
      body: ReleaseBody,
      response: { 200: ReleaseView }
    }
  }, async (request) => ({ released: await release(request.body, { actor: request.actor, author: auditAuthorOf(request) }) }))
  done()
}
