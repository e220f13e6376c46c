import type { FastifyContextConfig, FastifyPluginCallback } from 'fastify'
import plugin from 'fastify-plugin'
import { unconfirmedPage } from './own-request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the operation does cannot be taken back. Nothing need say so of a DELETE. */
    irreversible?: true
  }
}

/** Whether what an operation of the API does cannot be taken back. */
export function isIrreversible (method: string | string[], { irreversible }: FastifyContextConfig): boolean {
  return method === 'DELETE' || irreversible === true
}

/** No page of the console does what cannot be taken back, unless its route says how its reader is asked first. */
export const irreversiblePlugin: FastifyPluginCallback = plugin((app, _options, done) => {
  app.addHook('onRequest', (request, _reply, next) => {
    const page = isIrreversible(request.method, request.routeOptions.config) ? unconfirmedPage(request.raw) : undefined
    next(page === undefined ? undefined : new TypeError(`${page} does what cannot be taken back, and asks nobody first.`))
  })
  done()
}, { name: 'irreversible', fastify: '5.x' })
