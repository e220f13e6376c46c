import { createFairSemaphore, type FairSemaphore } from '@dispatch/common'
import { clientKeyOf, DispatchError } from '@dispatch/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { createAbortableDelay } from './abortable-delay.ts'
import { knownActor } from './authentication.ts'
import type { TarpitLimits } from './tarpit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Strangers do not wait for each other here: what is asked costs nothing, or must be taken as it comes. */
    withoutAdmissionControl?: boolean
  }
  interface FastifyRequest {
    /** Ends the turn of a stranger. */
    [turn]: (() => void) | null
  }
}

const turn = Symbol('turn of a stranger')

/** What one company may have of what all share, and what strangers may. Times are in milliseconds. */
export type AdmissionLimits = {
  /** Requests that take their turn at once, and those that may wait for it. Fewer than the connections to the database. */
  concurrentRequests: number
  queueLength: number
  /** What is not answered within this time waits for something else (a vendor, a thread) and gives up its turn. */
  holdTime: number
  /** Bytes from which on a body is a large one. */
  largeBodyBytes: number
  /** Large bodies that are taken at once. */
  concurrentLargeBodies: number
  /** Requests of strangers that take their turn at once, of all addresses and of one. */
  concurrentAnonymous: number
  concurrentAnonymousPerAddress: number
  /** Bytes a millisecond at which the place of a large body is free again, beginning with its answer. */
  largeBodyDrainRate: number
  tarpit: TarpitLimits
}

const kibibyte = 1024

/** Large bodies of a company are 2 MiB a second in the long run, which take a few percent of the time of the process. */
export const admissionLimits: AdmissionLimits = {
  concurrentRequests: 6,
  queueLength: 500,
  holdTime: 250,
  largeBodyBytes: 64 * kibibyte,
  concurrentLargeBodies: 2,
  largeBodyDrainRate: kibibyte,
  concurrentAnonymous: 4,
  concurrentAnonymousPerAddress: 2,
  tarpit: { burst: 20, every: 50, longest: 30_000 }
}

/**
 * Lets companies take turns, each with a line of its own: many requests of one, or many large bodies, wait for each other and not the
 * others for them. A large body is not read while it waits. Strangers, at the routes that are open to them, take turns by address; all of
 * them together have a few places of their own, which they have only for the work, not while they send and take.
 */
export const admissionControlPlugin = plugin<{ limits: Omit<AdmissionLimits, 'tarpit'> }>((app, { limits }, done) => {
  const requests = createFairSemaphore(limits.queueLength, limits.concurrentRequests)
  const bodies = createFairSemaphore(limits.queueLength, limits.concurrentLargeBodies)
  const pause = createAbortableDelay(app)

  const strangers = createFairSemaphore(limits.queueLength, limits.concurrentAnonymousPerAddress, limits.concurrentAnonymous)
  app.decorateRequest(turn, null)

  /** Ends a turn when its request is over, or waits for something else. */
  function endInTime (reply: FastifyReply, end: () => void): void {
    const timer = setTimeout(end, limits.holdTime).unref()
    whenOver(reply, () => {
      clearTimeout(timer)
      end()
    })
  }

  app.addHook('onRequest', async (request, reply) => {
    const actor = knownActor(request)
    if (actor !== null) endInTime(reply, await turnOf(requests, actor.companyId, request, reply))
  })

  app.addHook('preValidation', async (request, reply) => {
    if (knownActor(request) !== null || request.routeOptions.config.withoutAdmissionControl === true) return
    request[turn] = await turnOf(strangers, clientKeyOf(request.ip), request, reply)
    endInTime(reply, request[turn])
  })
  app.addHook('onSend', (request, _reply, payload, next) => {
    request[turn]?.()
    next(null, payload)
  })

  app.addHook('preParsing', async (request, reply, payload) => {
    if (!isLarge(request, limits.largeBodyBytes)) return payload
    const end = await turnOf(bodies, knownActor(request)?.companyId ?? clientKeyOf(request.ip), request, reply)
    const { socket, headers } = request
    const before = socket.bytesRead
    whenOver(reply, () => {
      void pause(Number(headers['content-length'] ?? socket.bytesRead - before) / limits.largeBodyDrainRate).then(end)
    })
    return payload
  })
  done()
}, { name: 'fairness', fastify: '5.x', dependencies: ['authentication', 'rate-limits'] })

/** Waits for a turn of a company or an address, and answers how to end it. */
async function turnOf (turns: FairSemaphore, whose: number | string, request: FastifyRequest, reply: FastifyReply): Promise<() => void> {
  const end = await turns.acquire(whose)
  if (end === undefined) {
    const who = typeof whose === 'number' ? 'the company' : 'this address'
    throw new DispatchError('rate_limited', `More requests of ${who} are waiting than there is room for: try again in a second.`, {
      retryAfter: 1
    })
  }
  // Who has gone meanwhile is not worked for.
  if (request.socket.destroyed) reply.hijack()
  return end
}

function whenOver ({ raw, request: { socket } }: FastifyReply, work: () => void): void {
  if (socket.destroyed) work()
  else raw.once('close', work)
}

/** Also one that does not say how long it is. The files of forms are not gathered in memory, and not parsed. */
function isLarge ({ headers }: FastifyRequest, least: number): boolean {
  if (headers['content-type']?.startsWith('multipart/') === true) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) >= least
}
