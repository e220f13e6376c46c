import { observe } from '@dispatch/common'
import plugin from 'fastify-plugin'

/** Tells of every answer, by the pattern of its route: the addresses themselves have ids in them, and strangers choose some. */
export const observationsPlugin = plugin((app, _options, done) => {
  app.addHook('onResponse', (request, reply, next) => {
    const { method, routeOptions: { url: route = 'none' } } = request
    observe('request', { method, route, status: reply.statusCode, seconds: reply.elapsedTime / 1000 })
    next()
  })
  done()
}, { name: 'observations', fastify: '5.x' })
