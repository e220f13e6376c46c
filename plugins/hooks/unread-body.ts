import plugin from 'fastify-plugin'
import { isOwn } from './own-request.ts'

/** Who is not let in, or asks too often, gets its answer, and then no more attention than that takes. */
const turnedAway = new Set([401, 403, 429])

/** How long the rest of a body may take after its answer, in ms. */
const [afterRefusal, afterAnswer] = [2_000, 30_000]

/**
 * Takes what comes of a body after its answer, and throws it away: many clients read an answer only when they have sent everything, and
 * their next request follows on the same connection. Who does not come to an end is disconnected. This is for batches and files, which are
 * read as they come: where a parser refuses a body, such as JSON that is too large, Fastify closes the connection with the answer.
 */
export const unreadBodyPlugin = plugin((app, _options, done) => {
  app.addHook('onResponse', ({ raw }, { statusCode }, next) => {
    // What the service asks itself is on no connection.
    if (!raw.complete && !raw.destroyed && !isOwn(raw)) {
      raw.resume()
      setTimeout(() => {
        if (!raw.complete) raw.destroy()
      }, turnedAway.has(statusCode) ? afterRefusal : afterAnswer).unref()
    }
    next()
  })
  done()
}, { name: 'unread-body', fastify: '5.x' })
