import plugin from 'fastify-plugin'
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
    reply.removeHeader('connection')
    next()
  })
  app.addHook('onResponse', ({ raw, routeOptions: { config } }, { statusCode }, next) => {
    // What the service asks itself is on no connection.
    if (!raw.complete && !raw.destroyed && !isOwn(raw)) {
      raw.resume()
      setTimeout(() => {
        if (!raw.complete) raw.destroy()
      }, turnedAway.has(statusCode) || config.public === true ? afterRefusal : afterAnswer).unref()
    }
    next()
  })
  done()
}, { name: 'unread-body', fastify: '5.x' })
