import type { Sessions } from '@dispatch/accounts'
import { Nothing, page, SessionView } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { resourceNotFound, uuidIn } from './path-parameters.ts'

/** The user's sessions at the console. */
export const sessionsRoutes: FastifyPluginCallbackTypebox<{ sessions: Sessions }> = (app, { sessions }, done) => {
  app.get('/api/v1/my/sessions', {
    config: { person: true, errors: [] },
    schema: {
      operationId: 'listMySessions',
      tags: ['Authentication'],
      summary: 'Lists the user\'s sessions at the console, the newest first.',
      response: { 200: page(SessionView) }
    }
  }, async ({ actor }) => ({ data: await sessions.list(actor), nextCursor: null }))

  app.delete<{ Params: { id: string } }>('/api/v1/my/sessions/:id', {
    config: { person: true, errors: ['not_found'] },
    schema: {
      operationId: 'endMySession',
      tags: ['Authentication'],
      summary: 'Ends a session of the user at the console: its next request is refused, in every process.',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { actor, params } = request
    const ended = await sessions.end({ actor, author: auditAuthorOf(request) }, uuidIn(params.id, 'session'))
    if (!ended) throw resourceNotFound('session', params.id)
    return reply.code(204).send(null)
  })
  done()
}
