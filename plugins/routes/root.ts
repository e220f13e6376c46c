import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'

/** Where to go on from the address of the service. */
const ways = { console: '/console', documentation: '/docs', openapi: '/openapi.json' } as const

/** `/`: a browser is led to the console, and a program is told where everything is. */
export const rootRoute: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.get('/', { config: { public: true, withoutAdmissionControl: true }, schema: { hide: true } }, async ({ headers }, reply) => {
    reply.header('vary', 'accept').header('cache-control', 'no-store')
    return headers.accept?.includes('text/html') === true ? reply.redirect(ways.console) : reply.send(ways)
  })
  done()
}
