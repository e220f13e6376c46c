import { HealthView, type Database } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'

/** `/healthz` for clients, `/livez` and `/readyz` for load balancers, which learn nothing else. */
export const healthRoutes: FastifyPluginCallbackTypebox<{ database: Database }> = (app, { database }, done) => {
  app.get('/healthz', {
    config: { errors: [] },
    schema: { tags: ['Health'], summary: 'Answers when the service is up and the credentials are valid.', response: { 200: HealthView } }
  }, () => ({ status: 'ok' as const }))

  app.get('/livez', { config: { public: true, quiet: true }, schema: { hide: true } }, async (_request, reply) => reply.code(204).send())

  app.get('/readyz', { config: { public: true, quiet: true }, schema: { hide: true } }, async (request, reply) => {
    try {
      await database.ping()
      return await reply.code(204).send()
    } catch (error) {
      request.log.warn({ err: error }, 'not ready: the database does not answer')
      return reply.code(503).send()
    }
  })
  done()
}
