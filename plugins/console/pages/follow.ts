import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { type Html, html } from '../../html.ts'
import type { Words } from '../language/language.ts'
import { visitOf } from '../session/visit.ts'

/** What changes while a page is open, for its script. */
export const followPages: FastifyPluginCallback = (app, _options, done) => {
  const config = { lasting: true } as const

  app.get('/dispatches/changes', { config }, (request, reply) => follow(request, reply, '/api/v1/dispatches/changes'))

  app.get<{ Params: { id: string } }>('/dispatches/:id/changes', { config },
    (request, reply) => follow(request, reply, `/api/v1/dispatches/${encodeURIComponent(request.params.id)}/changes`))
  done()
}

async function follow (request: FastifyRequest, reply: FastifyReply, path: string): Promise<FastifyReply> {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const stream = await visitOf(request).api.stream(path, gone.signal)
  return reply.type('text/event-stream').headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no' }).send(stream)
}

/** A page that follows changes. Without script its reader loads it again. */
export function following (words: Words, { changes, page }: { changes: string, page: string }): Html {
  return html`<p class="quiet" data-changes="${changes}" data-page="${page}"><span hidden>${words.follows}</span> <a href="${page}">${words.loadAgain}</a></p>
`
}
