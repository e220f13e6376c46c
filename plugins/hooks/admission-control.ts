import { clientKeyOf } from '@dispatch/accounts'
import { createFairSemaphore, type FairSemaphore, type RecentOthers } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { createAbortableDelay } from './abortable-delay.ts'
import { knownActor } from './authentication.ts'
import { goneSignal } from './gone-signal.ts'
import { createLoopTurns } from './loop-turns.ts'
import type { TarpitLimits } from './tarpit.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Anonymous clients are not queued on this route: the request costs nothing, or must be accepted at once. */
    withoutAdmissionControl?: boolean
    /** Its handler reads the body bit by bit, in turns of its own: however large, it keeps no other large body waiting. */
    readsBitByBit?: true
  }
  interface FastifyRequest {
    /** Releases the permit of an anonymous request. */
    [releaseAnonymous]: (() => void) | null
    /** The company of a client that is known otherwise than by credentials. */
    [recognised]: number | null
  }
}

const releaseAnonymous = Symbol('release of an anonymous request')
const recognised = Symbol('recognised client')

/** The client is known by its session, as one of a company: it does not wait among anonymous ones. To be called before the body is read. */
export function admitRecognised (request: FastifyRequest, companyId: number): void {
  request[recognised] = companyId
}

/** The company of the client, once it is known. */
export function companyBehind (request: FastifyRequest): number | undefined {
  return knownActor(request)?.companyId ?? request[recognised] ?? undefined
}

/** Releases the permit of an anonymous request before it is answered: a request that it makes for a company takes the company's own. */
export function releasePermit (request: FastifyRequest): void {
  request[releaseAnonymous]?.()
}

/** How much of the shared capacity one company may use, and how much anonymous clients may use. Times are in milliseconds. */
export type AdmissionLimits = {
  /**
   * Requests of one company that run at once: enough to keep two cores busy while each waits for the disk. Of the connections to the
   * database, the company has half at most.
   */
  concurrentRequests: number
  /** Those that run at once while another company works, too: more would make that one wait, and are hardly faster in all. */
  concurrentRequestsBesideOthers: number
  /** Requests of one company that may wait. */
  queueLength: number
  /** A request that runs for longer than this waits for something else (a vendor, a thread), so its permit is released. */
  holdTime: number
  /** A body of this many bytes or more is a large one. */
  largeBodyBytes: number
  /** Large bodies of one company that are read at once. */
  concurrentLargeBodies: number
  /** Anonymous requests that run at once: from all addresses together, and from one address. */
  concurrentAnonymous: number
  concurrentAnonymousPerAddress: number
  /** Anonymous requests that may wait: more would wait for longer than a client does. */
  anonymousQueueLength: number
  /** Drain rate of a large-body permit, in bytes/ms, from the moment the request is answered. */
  largeBodyDrainRate: number
  tarpit: TarpitLimits
}

const kibibyte = 1024

/** With these limits a company sends at most 2 MiB/s of large bodies in the long run, which costs a few percent of the process's time. */
export const admissionLimits: AdmissionLimits = {
  concurrentRequests: 16,
  concurrentRequestsBesideOthers: 4,
  queueLength: 500,
  holdTime: 100,
  largeBodyBytes: 64 * kibibyte,
  concurrentLargeBodies: 2,
  largeBodyDrainRate: kibibyte,
  concurrentAnonymous: 4,
  concurrentAnonymousPerAddress: 2,
  anonymousQueueLength: 1000,
  tarpit: { burst: 20, every: 50, longest: 30_000 }
}

/**
 * Admission control. Each company has a queue of its own: its many requests, or its large bodies, wait for each other, and no other company
 * waits for them. A large body is not read while it waits. Anonymous clients, on public routes, have a queue for each address, and share a
 * few permits. They hold a permit only while the service works, not while the client sends its request or receives the answer, nor while a
 * password waits to be checked. Whose session is known is none of them. Who has gone leaves the queue.
 */
export const admissionControlPlugin = plugin<{ limits: Omit<AdmissionLimits, 'tarpit'>, others: RecentOthers }>(
  (app, { limits, others }, done) => {
    const maxBesideOthers = Math.min(limits.concurrentRequests, limits.concurrentRequestsBesideOthers)
    const requests = createFairSemaphore({
      waiting: limits.queueLength,
      perOwner: (company) => others.besides(Number(company)) ? maxBesideOthers : limits.concurrentRequests
    })
    const bodies = createFairSemaphore({ waiting: limits.queueLength, perOwner: limits.concurrentLargeBodies })
    const pause = createAbortableDelay(app)
    /** Those that have a permit go on one by one too: otherwise a company's sixteen would take each step at the same time. */
    const turns = createLoopTurns()

    const anonymous = createFairSemaphore({
      waiting: limits.queueLength,
      waitingInAll: limits.anonymousQueueLength,
      perOwner: limits.concurrentAnonymousPerAddress,
      total: limits.concurrentAnonymous
    })
    app.decorateRequest(releaseAnonymous, null)
    app.decorateRequest(recognised, null)

    /** Releases a permit when its request is over, or after the hold time. */
    function releaseInTime (reply: FastifyReply, release: () => void): void {
      const timer = setTimeout(release, limits.holdTime).unref()
      whenOver(reply, () => {
        clearTimeout(timer)
        release()
      })
    }

    app.addHook('onRequest', async (request, reply) => {
      const actor = knownActor(request)
      if (actor === null) return
      others.begin(actor.companyId)
      releaseInTime(reply, await acquire(requests, actor.companyId, request, reply))
      await turns.next(actor.companyId)
    })

    app.addHook('preValidation', async (request, reply) => {
      if (companyBehind(request) !== undefined || request.routeOptions.config.withoutAdmissionControl === true) return
      request[releaseAnonymous] = await acquire(anonymous, clientKeyOf(request.ip), request, reply)
      releaseInTime(reply, request[releaseAnonymous])
    })
    app.addHook('onSend', (request, _reply, payload, next) => {
      releasePermit(request)
      next(null, payload)
    })

    app.addHook('preParsing', async (request, reply, payload) => {
      if (!isLarge(request, limits.largeBodyBytes)) return payload
      const release = await acquire(bodies, knownActor(request)?.companyId ?? clientKeyOf(request.ip), request, reply)
      const { socket, headers } = request
      const before = socket.bytesRead
      whenOver(reply, () => {
        const received = Number(headers['content-length'] ?? socket.bytesRead - before)
        void pause(Math.max(received, request.decodedSize ?? 0) / limits.largeBodyDrainRate).then(release)
      })
      return payload
    })
    done()
  },
  { name: 'admission-control', fastify: '5.x', dependencies: ['authentication', 'rate-limits'] }
)

/** Waits for a permit of a company or an address. Returns the function that releases it. Throws `rate_limited` when the queue is full. */
async function acquire (
  semaphore: FairSemaphore,
  whose: number | string,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<() => void> {
  const permit = await semaphore.acquire(whose, () => goneSignal(reply))
  // The client has gone meanwhile: nothing is done for it.
  if (request.socket.destroyed) reply.hijack()
  else if (permit === undefined) {
    const who = typeof whose === 'number' ? 'the company' : 'this address'
    throw new DispatchError('rate_limited', `Too many requests of ${who} are waiting: try again in a second.`, {
      retryAfter: 1
    })
  }
  return () => {
    permit?.release()
  }
}

function whenOver ({ raw, request: { socket } }: FastifyReply, work: () => void): void {
  if (socket.destroyed) work()
  else raw.once('close', work)
}

/**
 * A body of unknown length, or one that is compressed, counts as large. The files of forms are never large: they are neither buffered in
 * memory nor parsed.
 */
function isLarge ({ headers, routeOptions: { config } }: FastifyRequest, least: number): boolean {
  if (config.readsBitByBit === true) return false
  if (headers['content-type']?.startsWith('multipart/') === true) return false
  return headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined ||
    Number(headers['content-length'] ?? 0) >= least
}
