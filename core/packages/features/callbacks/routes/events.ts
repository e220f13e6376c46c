import type { Changes } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { createStreams, longestStream, StreamAnswer, streamNote } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { EventsQuery, EventStreamQuery, EventsView } from '../contract/events.ts'
import { beginning, listEvents, sendEvents } from '../service/events.ts'
import type { FollowFeed } from '../service/feeds.ts'

const tags = ['Callbacks']

/** The dependencies of the routes. */
export type EventNeeds = { changes: Changes, database: Database, feeds: FollowFeed }

/** What callbacks would tell a company. */
export const eventRoutes: FastifyPluginCallbackTypebox<EventNeeds> = (app, { changes, database, feeds }, done) => {
  const { follow, close } = createStreams(changes)
  app.addHook('preClose', (next) => {
    close()
    next()
  })

  app.get<{ Querystring: EventsQuery }>('/api/v1/events', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listEvents',
      tags,
      summary: 'Lists what callbacks tell the company, in order, for clients without a public address (admins).',
      description: 'Each event that is told by callbacks, whether or not the company has an address for them. They are kept for 30 days, ' +
        'from the first time on that the company asks: ask once when you begin. A client asks for those `after` the last that it has; ' +
        'it misses none and gets none twice.',
      querystring: EventsQuery,
      response: { 200: EventsView }
    }
  }, async ({ actor: { companyId }, query: { after, limit = 25 } }) => listEvents(database, companyId, { after, limit }))

  app.get<{ Querystring: EventStreamQuery }>('/api/v1/events/stream', {
    config: { errors: ['validation_error'], lasting: true },
    schema: {
      operationId: 'followEvents',
      tags,
      summary: 'Follows what callbacks tell the company, as server-sent events (admins).',
      description:
        'The event `event` comes within two seconds of each event that `GET /api/v1/events` lists: its data are the body of the ' +
        'callback, its id that of the event. It goes on after the id in the header `Last-Event-ID`, which `EventSource` sends by itself, ' +
        'or in `after`; without either it tells what is new. ' + streamNote,
      querystring: EventStreamQuery,
      response: { 200: StreamAnswer }
    }
  }, async ({ actor, headers, query: { after, seconds = longestStream }, log }, reply) => {
    const { companyId } = actor
    const from = await beginning(database, companyId, headers['last-event-id']?.toString() ?? after)
    await follow(actor, reply, seconds, (stream) => {
      const failed = (error: unknown): void => {
        log.warn({ err: error }, 'a stream of events has ended early')
        stream.end()
      }
      return sendEvents({ database, follow: feeds, failed }, companyId, from, stream)
    })
    return reply
  })
  done()
}
