import { maySee } from '@dispatch/accounts'
import { type Changes, type DocumentUrl, isUnderWay, viewOf } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { EventStream } from './event-stream.ts'
import { createStreams, longestStream, StreamAnswer, streamNote, streamSeconds } from './streams.ts'
import { findVisibleDispatch } from './visible-dispatches.ts'

/** Dispatches as they change: streams of server-sent events. */
export const dispatchChangesRoutes: FastifyPluginCallbackTypebox<{ database: Database, documentUrl: DocumentUrl, changes: Changes }> = (
  app,
  { database, documentUrl, changes },
  done
) => {
  const { follow, close } = createStreams(changes)
  app.addHook('preClose', (next) => {
    close()
    next()
  })

  app.get<{ Querystring: StreamQuery }>('/api/v1/dispatches/changes', {
    config: { scopes: ['read_own', 'read_all'], errors: ['validation_error'], lasting: true },
    schema: {
      operationId: 'followDispatches',
      tags: ['Dispatches'],
      summary: 'Follows the statuses of the newest dispatches of the company, as server-sent events.',
      description: 'The event `dispatches` comes within two seconds of each change, the first at once: its data are ' +
        '`{"data":[{"dispatchId":…,"status":…}]}`, those of the newest hundred that are new or have another status. ' + streamNote,
      querystring: StreamQuery,
      response: { 200: StreamAnswer }
    }
  }, async ({ actor, query: { seconds = longestStream } }, reply) => {
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
      response: { 200: StreamAnswer }
    }
  }, async ({ actor, apiVersion, params, query: { seconds = longestStream }, log }, reply) => {
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

const StreamQuery = Type.Object({ seconds: streamSeconds }, { additionalProperties: false })
type StreamQuery = { seconds?: number }
