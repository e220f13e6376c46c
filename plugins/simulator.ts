import { AnyJsonObject, listProviderState, page, type Database, type JsonObject } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'

/** Development only: what the simulator has "sent" for the company. */
export const simulatorRoutes: FastifyPluginCallbackTypebox<{ database: Database }> = (app, { database }, done) => {
  app.get('/api/v1/simulator/outbox', {
    config: { errors: [] },
    schema: { tags: ['Simulator'], summary: 'Lists what the simulator has sent for the company, the newest first, at most 100 (development only).', response: { 200: page(AnyJsonObject) } }
  }, async ({ actor }) => ({ data: await listProviderState(database, actor.companyId, 'simulator', 'outbox:', 100) as JsonObject[], nextCursor: null }))
  done()
}
