import type { Sessions } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { FastifyPluginCallback } from 'fastify'
import { clientOf } from '../session/client.ts'
import { readCookie, setCookie } from '../session/cookies.ts'
import { longestKept } from '../session/kept-form.ts'
import { ownPath } from '../session/paths.ts'
import { secondPage } from './sign-in-pages.ts'
import { refusals } from './sign-in.ts'
import { beginAgain, signedIn } from './signed-in.ts'

type Form = { Body: URLSearchParams, Querystring: { next?: unknown } }

/** The second page of a sign-in, after a right password: it asks for a code. The cookie of the wait is good for nothing else. */
export const signInCodeRoutes: FastifyPluginCallback<{ sessions: Sessions }> = (app, { sessions }, done) => {
  app.get<Form>('/sign-in/code', { config: { withoutSession: true } }, async (request, reply) => {
    const next = ownPath(request.query.next)
    const waiting = await sessions.waitingFor(readCookie(request, 'waiting') ?? '')
    if (waiting === undefined) return reply.redirect('/console/sign-in', 303)
    return reply.page(secondPage(request, { next }, waiting))
  })

  app.post<Form>('/sign-in/code', { config: { withoutSession: true, limit: 'auth' }, bodyLimit: longestKept }, async (request, reply) => {
    const { body } = request
    const [code, next] = [body.get('code') ?? '', ownPath(body.get('next'))]
    try {
      const session = await sessions.complete(readCookie(request, 'waiting') ?? '', code, clientOf(request))
      setCookie(reply, 'waiting', '', 0)
      if (session === undefined) return await beginAgain(request, reply, next)
      return await signedIn(sessions, request, reply, { session, next })
    } catch (error) {
      if (!(error instanceof DispatchError) || !refusals.has(error.word)) throw error
      if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter)
      const waiting = await sessions.waitingFor(readCookie(request, 'waiting') ?? '')
      return reply.code(error.status).page(secondPage(request, { next, refused: error.word }, { kinds: waiting?.kinds ?? [] }))
    }
  })
  done()
}
