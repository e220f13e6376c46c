import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { knownActor } from '../hooks/authentication.ts'
import { type Current, current } from '../hooks/trace-context.ts'
import type { Traces } from './traces.ts'

const traced = Symbol('span')

declare module 'fastify' {
  interface FastifyRequest {
    [traced]: Current | null
  }
}

/**
 * Traces every request, from its first byte to the end of its answer. Only who has proved an identity chooses the trace that a request
 * belongs to. A request that is refused before its body is read gets its span with its answer.
 */
export const requestTracesPlugin = plugin<{ traces: Traces }>((app, { traces }, done) => {
  app.decorateRequest(traced, null)

  function spanOf (request: FastifyRequest, reply: FastifyReply): Current {
    const { method, routeOptions: { url: route = 'none' }, headers: { traceparent } } = request
    return request[traced] ??= traces.request({
      method,
      route,
      begun: Date.now() - reply.elapsedTime,
      ...(knownActor(request) !== null && typeof traceparent === 'string' ? { parent: traceparent } : {})
    })
  }

  // After all hooks that let a request in; and again, because the events of its body come in another asynchronous context.
  app.addHook('preParsing', (request, reply, _payload, next) => {
    current.run(spanOf(request, reply), next)
  })
  app.addHook('preValidation', (request, reply, next) => {
    current.run(spanOf(request, reply), next)
  })
  app.addHook('onResponse', (request, reply, next) => {
    const found = spanOf(request, reply)
    traces.answered(found, reply.statusCode)
    current.run(found, next)
  })
  done()
}, { name: 'request-traces', fastify: '5.x' })
