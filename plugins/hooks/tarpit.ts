import { clientKeyOf } from '@dispatch/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { createAbortableDelay } from './abortable-delay.ts'
import { knownActor } from './authentication.ts'
import { createThrottle } from './throttle.ts'

/**
 * How fast one client, a user or whoever comes from an address, is refused: `burst` at once, then one `every` milliseconds; none waits for
 * longer than `longest`.
 */
export type TarpitLimits = { burst: number, every: number, longest: number }

/** What is answered to those who try again and again: wrong credentials, no permission, too much. */
const refusing = new Set([401, 403, 413, 429])

/** Milliseconds that the rest of a body may take to come once its request is refused; some clients read the answer after it only. */
const patience = 2_000

/**
 * A refusal costs nearly as much as other small answers. Who is refused again and again gets it later, which holds up their connection and
 * nobody else; who has too many outstanding is cut off, and so is a body that goes on after the refusal.
 */
export const tarpitPlugin = plugin<{ limits: TarpitLimits }>((app, { limits }, done) => {
  const pace = createThrottle(limits)
  const pause = createAbortableDelay(app)

  app.addHook('onSend', async (request, reply, payload) => {
    if (!refusing.has(reply.statusCode)) return payload
    cutUnread(request, reply)
    const delay = pace(clientBehind(request))
    if (delay === undefined) request.socket.destroy()
    else if (delay > 0) await pause(delay)
    return payload
  })
  done()
}, { name: 'refusals', fastify: '5.x', dependencies: ['authentication'] })

function clientBehind (request: FastifyRequest): string {
  const actor = knownActor(request)
  return actor === null ? clientKeyOf(request.ip) : `user ${actor.userId}`
}

function cutUnread ({ raw }: FastifyRequest, reply: FastifyReply): void {
  reply.raw.once('finish', () => {
    if (!raw.complete) {
      setTimeout(() => {
        if (!raw.complete) raw.socket.destroy()
      }, patience).unref()
    }
  })
}
