import type { Actor } from '@dispatch/accounts'
import { createFairSemaphore } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Changes } from '@dispatch/core'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { type EventStream, openEventStream } from './event-stream.ts'

/** The most streams that are open in this process. Some are kept for companies that have none: a stream lasts. */
const max = { ofUser: 6, ofCompany: 60, ofAll: 600, kept: 60 }

/** Opens a stream for a request, and follows what changes until it is over. `begin` answers the function that follows no longer. */
export type Follow = (actor: Actor, reply: FastifyReply, seconds: number, begin: (stream: EventStream) => () => void) => Promise<void>

/** The streams of a plugin, which end when its service closes. */
export function createStreams (changes: Pick<Changes, 'ofPresence'>): { follow: Follow, close: () => void } {
  const take = createStreamLimit()
  const open = new Set<EventStream>()
  let closing = false
  return {
    async follow (actor, reply, seconds, begin) {
      const release = await take(actor)
      const stream = openEventStream(reply, closing ? 0 : seconds)
      open.add(stream)
      const leave = begin(stream)
      const forget = changes.ofPresence(actor, stream.end)
      void stream.over.then(() => {
        leave()
        forget()
        release()
        open.delete(stream)
      })
    },

    close () {
      closing = true
      for (const stream of open) stream.end()
    }
  }
}

/** How long a stream lasts at most, in seconds. */
export const longestStream = 120

export const streamSeconds = Type.Optional(
  Type.Integer({ minimum: 1, maximum: longestStream, description: `How long the stream lasts at most; ${longestStream} unless given.` })
)

export const streamNote = 'It ends within seconds when the user is disabled, or signs out of the console. ' +
  'Its last event is `end`. A client that wants more asks again, as `EventSource` does by itself.'

/** The answer of a stream. */
export const StreamAnswer = {
  description: 'Server-sent events, with empty lines between them that keep the connection alive.',
  content: { 'text/event-stream': { schema: { type: 'string' } } }
}

/** Permits for streams. Throws `rate_limited` where there is none. */
export function createStreamLimit (): (actor: Actor) => Promise<() => void> {
  const users = createFairSemaphore({ waiting: 0, perOwner: max.ofUser })
  const companies = createFairSemaphore({ waiting: 0, perOwner: max.ofCompany, total: max.ofAll, kept: max.kept })
  return async ({ userId, companyId }) => {
    const ofUser = await users.acquire(userId)
    const ofCompany = ofUser === undefined ? undefined : await companies.acquire(companyId)
    if (ofUser !== undefined && ofCompany !== undefined) {
      return () => {
        ofUser.release()
        ofCompany.release()
      }
    }
    ofUser?.release()
    throw new DispatchError('rate_limited', `A user may have ${max.ofUser} streams open, a company ${max.ofCompany}: close one first.`, {
      retryAfter: 10
    })
  }
}
