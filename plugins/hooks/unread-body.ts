import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { companyBehind } from './admission-control.ts'
import { isOwn } from './own-request.ts'

/** Who is not let in, or asks too often, gets its answer, and then no more attention than that takes; so does a stranger. */
const turnedAway = new Set([401, 403, 429])

/** How long the rest of a body may take after its answer, in ms. */
const [afterRefusal, afterAnswer] = [2_000, 30_000]

/**
 * Takes what comes of a body after its answer, and throws it away: many clients read an answer only when they have sent everything, and
 * their next request follows on the same connection. Who does not come to an end is disconnected. That Fastify would end the connection
 * with each answer about a body that a parser refuses, even one that has come as a whole, is taken back.
 */
export const unreadBodyPlugin = plugin((app, _options, done) => {
  app.addHook('onSend', (_request, reply, _payload, next) => {
    const { raw } = reply
    // What a parser has set stands in the reply alone. An end that the client or the closing server wants stays.
    if (raw.shouldKeepAlive && !raw.hasHeader('connection') && reply.hasHeader('connection')) reply.header('connection', 'keep-alive')
    next()
  })
  app.addHook('onResponse', (request, { statusCode }, next) => {
    const { raw } = request
    // What the service asks itself is on no connection.
    if (!raw.complete && !raw.destroyed && !isOwn(raw)) {
      raw.resume()
      setTimeout(() => {
        if (!raw.complete) raw.destroy()
      }, turnedAway.has(statusCode) || isStranger(request) || isUncounted(request) ? afterRefusal : afterAnswer).unref()
    }
    next()
  })
  done()
}, { name: 'unread-body', fastify: '5.x' })

/** People at the console are known by their session, on routes that are open to all. */
function isStranger (request: FastifyRequest): boolean {
  return request.routeOptions.config.public === true && companyBehind(request) === undefined
}

/** A body without a length, of which admission control has counted no more than what has come. */
function isUncounted ({ headers, routeOptions: { config } }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined && config.readsBitByBit !== true
}
