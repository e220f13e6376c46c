import type { FastifyPluginCallback } from 'fastify'
import { pathIn } from '../session/mode.ts'
import { type Visit, visitOf } from '../session/visit.ts'

/** Where somebody begins who has just signed in, and was on their way to no page: a company that has sent nothing yet begins with tests. */
export const beginPage: FastifyPluginCallback = (app, _options, done) => {
  app.get('/begin', async (request, reply) => {
    const visit = visitOf(request)
    const isReal = visit.actor.role === 'operator' || await hasSentForReal(visit)
    return reply.redirect(isReal ? '/console' : pathIn('test', '/console'), 303)
  })
  done()
}

/** Whether anything was sent for real yet. */
async function hasSentForReal ({ api }: Visit): Promise<boolean> {
  const { data } = await api.read<{ data: unknown[] }>('/api/v1/dispatches?status=succeeded&test=false&limit=1')
  return data.length > 0
}
