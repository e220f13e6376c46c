import { QueueView, readBacklog, requireRole, type Database } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'

/** What waits, for the operator of the platform. */
export const queueRoutes: FastifyPluginCallbackTypebox<{ database: Database, now: () => Date }> = (app, { database, now }, done) => {
  app.get('/api/v1/queue', {
    config: { errors: [] },
    schema: { tags: ['Platform'], summary: 'Tells what waits in the queue, for how long, and what is tried again (operators).', response: { 200: QueueView } }
  }, async ({ actor }) => {
    requireRole(actor, 'operator')
    return readBacklog(database, now())
  })
  done()
}
