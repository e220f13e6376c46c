import { clientKeyOf } from '@dispatch/accounts'
import type { FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { createAbortableDelay } from './abortable-delay.ts'
import { knownActor } from './authentication.ts'
import { createThrottle } from './throttle.ts'

/**
 * How fast one client (a user, or an address without credentials) gets refusals: `burst` at once, then one per `every` milliseconds. A
 * refusal that would wait for more than `longest` milliseconds is not sent.
 */
export type TarpitLimits = { burst: number, every: number, longest: number }

/** The statuses that are slowed down: wrong credentials, no permission, body too large, too many requests. */
const refusing = new Set([401, 403, 413, 429])

/**
 * A refusal costs nearly as much as any other small answer. A client that is refused again and again gets its refusals later: this delays
 * its own connection only. A client with too many delayed refusals is disconnected.
 */
export const tarpitPlugin = plugin<{ limits: TarpitLimits }>((app, { limits }, done) => {
  const throttle = createThrottle(limits)
  const pause = createAbortableDelay(app)

  app.addHook('onSend', async (request, reply, payload) => {
    if (!refusing.has(reply.statusCode)) return payload
    const delay = throttle(clientBehind(request))
    if (delay === undefined) reply.raw.destroy()
    else if (delay > 0) await pause(delay)
    return payload
  })
  done()
}, { name: 'tarpit', fastify: '5.x', dependencies: ['authentication'] })

function clientBehind (request: FastifyRequest): string {
  const actor = knownActor(request)
  return actor === null ? clientKeyOf(request.ip) : `user ${actor.userId}`
}
