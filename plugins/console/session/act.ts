import type { Sessions } from '@dispatch/accounts'
import type { FastifyPluginCallback } from 'fastify'
import { ApiRefused } from './api.ts'
import { visitOf } from './visit.ts'

/** Acting as another user: the API allows and records it, the session of the reader remembers it. */
export const actRoutes: FastifyPluginCallback<{ sessions: Sessions }> = (app, { sessions }, done) => {
  app.post<{ Params: { id: string } }>('/act/:id', async (request, reply) => {
    const { api, actor } = visitOf(request)
    const begun = await api.send<{ data: { token: string } }>('POST', '/auth/impersonate', { userId: Number(request.params.id) })
    if (!begun.ok) throw new ApiRefused(begun)
    await sessions.act(actor, begun.body.data.token)
    return reply.redirect('/console', 303)
  })

  app.post('/act/end', { config: { enrolment: true } }, async (request, reply) => {
    const { acting } = visitOf(request)
    if (acting !== undefined) await sessions.stopActing(acting.own)
    return reply.redirect('/console', 303)
  })
  done()
}
