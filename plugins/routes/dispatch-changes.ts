import { createFairSemaphore } from '@dispatch/common'
import { type Actor, type Changes, type Database, DispatchError, type DocumentUrl, isUnderWay, maySee, viewOf } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { type EventStream, openEventStream } from './event-stream.ts'
import { findVisibleDispatch } from './visible-dispatches.ts'

/** The most streams that are open in this process. Some are kept for companies that have none: a stream lasts. */
const most = { ofUser: 6, ofCompany: 60, ofAll: 600, kept: 60 }

/** Dispatches as they change: streams of server-sent events. */
export const dispatchChangesRoutes: FastifyPluginCallbackTypebox<{ database: Database, documentUrl: DocumentUrl, changes: Changes }> = (
  app,
  { database, documentUrl, changes },
  done
) => {
  const take = createStreamLimit()
  const open = new Set<EventStream>()
  let closing = false
  app.addHook('preClose', (next) => {
    closing = true
    for (const stream of open) stream.end()
    next()
  })

  /** Opens a stream, and follows what changes until it is over. */
  async function follow (actor: Actor, reply: FastifyReply, seconds: number, begin: (stream: EventStream) => () => void): Promise<void> {
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
  }

  app.get<{ Querystring: StreamQuery }>('/api/v1/dispatches/changes', {
    config: { scopes: ['read_own', 'read_all'], errors: ['validation_error'], lasting: true },
    schema: {
      operationId: 'followDispatches',
      tags: ['Dispatches'],
      summary: 'Follows the statuses of the newest dispatches of the company, as server-sent events.',
      description: 'The event `dispatches` comes within two seconds of each change, the first at once: its data are ' +
        '`{"data":[{"dispatchId":…,"status":…}]}`, those of the newest hundred that are new or have another status. ' + streamNote,
      querystring: StreamQuery,
      response: { 200: Events }
    }
  }, async ({ actor, query: { seconds = longest } }, reply) => {
    await follow(actor, reply, seconds, ({ send }) =>
      changes.ofCompany(actor.companyId, (rows) => {
        // An id and a status tell nothing of deferred steps.
        const seen = rows.filter((row) => maySee(actor, { ...row, steps: [] }))
        if (seen.length > 0) send('dispatches', { data: seen.map(({ dispatch_id: dispatchId, status }) => ({ dispatchId, status })) })
      }))
    return reply
  })

  app.get<{ Params: { id: string }, Querystring: StreamQuery }>('/api/v1/dispatches/:id/changes', {
    config: { scopes: ['read_own', 'read_all'], errors: ['not_found', 'validation_error'], lasting: true },
    schema: {
      operationId: 'followDispatch',
      tags: ['Dispatches'],
      summary: 'Follows a dispatch, as server-sent events.',
      description: 'The event `dispatch` comes within two seconds of each change of its status, its timeline or its callbacks, the first ' +
        'at once: its data are the dispatch, as `GET /api/v1/dispatches/{id}` answers it. The stream ends when nothing is under way ' +
        'any more. ' + streamNote,
      querystring: StreamQuery,
      response: { 200: Events }
    }
  }, async ({ actor, apiVersion, params, query: { seconds = longest }, log }, reply) => {
    const { dispatch_id: dispatchId } = await findVisibleDispatch(database, actor, params.id)
    const tell = async ({ send, end }: EventStream): Promise<void> => {
      const view = viewOf(await findVisibleDispatch(database, actor, dispatchId), documentUrl, apiVersion)
      send('dispatch', view)
      if (!isUnderWay(view)) end()
    }
    await follow(actor, reply, seconds, (stream) =>
      changes.ofDispatch(dispatchId, () => {
        tell(stream).catch((error: unknown) => {
          log.warn({ err: error }, 'a stream of changes has ended early')
          stream.end()
        })
      }))
    return reply
  })
  done()
}

/** In seconds. */
const longest = 120

const StreamQuery = Type.Object({
  seconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: longest, description: `How long the stream lasts at most; ${longest} unless given.` })
  )
}, { additionalProperties: false })
type StreamQuery = { seconds?: number }

const streamNote = 'It ends within seconds when the user is disabled, or signs out of the console. ' +
  'Its last event is `end`. A client that wants more asks again, as `EventSource` does by itself.'

const Events = {
  description: 'Server-sent events, with empty lines between them that keep the connection alive.',
  content: { 'text/event-stream': { schema: { type: 'string' } } }
}

/** Permits for streams. Throws `rate_limited` where there is none. */
export function createStreamLimit (): (actor: Actor) => Promise<() => void> {
  const users = createFairSemaphore({ waiting: 0, perOwner: most.ofUser })
  const companies = createFairSemaphore({ waiting: 0, perOwner: most.ofCompany, total: most.ofAll, kept: most.kept })
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
    throw new DispatchError('rate_limited', `A user may have ${most.ofUser} streams open, a company ${most.ofCompany}: close one first.`, {
      retryAfter: 10
    })
  }
}
