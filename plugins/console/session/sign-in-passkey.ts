import { DispatchError, type Sessions } from '@dispatch/core'
import type { FastifyPluginCallback } from 'fastify'
import { languageOf } from '../language/language.ts'
import { signInCodePage } from '../pages/sign-in-code.ts'
import { signInPage } from '../pages/sign-in.ts'
import { clientOf } from './client.ts'
import { readCookie, setCookie } from './cookies.ts'
import { fiveMinutes, ownPath } from './sign-in.ts'

type Form = { Body: URLSearchParams, Querystring: { next?: unknown } }

/** Signing in with a passkey: alone, bound to this browser by a cookie with the challenge; or after a right password. */
export const signInPasskeyRoutes: FastifyPluginCallback<{ sessions: Sessions }> = (app, { sessions }, done) => {
  const config = { withoutSession: true, limit: 'auth' } as const

  app.post('/sign-in/passkey/options', { config }, async (_request, reply) => {
    const question = await sessions.ask()
    if (question === undefined) return reply.code(404).send({})
    setCookie(reply, 'challenge', question.challenge, fiveMinutes)
    return reply.header('cache-control', 'no-store').send(question.options)
  })

  app.post<Form>('/sign-in/passkey', { config }, async (request, reply) => {
    const [answer, next] = [request.body.get('answer') ?? '', ownPath(request.body.get('next'))]
    const session = await sessions.openByPasskey(answer, readCookie(request, 'challenge') ?? '', clientOf(request))
    setCookie(reply, 'challenge', '', 0)
    if (session === undefined) {
      return reply.code(403).page(signInPage(languageOf(request), { next, passkeys: { wrong: true } }))
    }
    setCookie(reply, 'session', session)
    return reply.redirect(next, 303)
  })

  app.post('/sign-in/code/passkey/options', { config }, async (request, reply) => {
    const question = await sessions.ask(readCookie(request, 'waiting') ?? '')
    return question === undefined
      ? reply.code(404).send({})
      : reply.header('cache-control', 'no-store').send(question.options)
  })

  app.post<Form>('/sign-in/code/passkey', { config }, async (request, reply) => {
    const [answer, next] = [request.body.get('answer') ?? '', ownPath(request.body.get('next'))]
    try {
      const session = await sessions.completeByPasskey(readCookie(request, 'waiting') ?? '', answer, clientOf(request))
      setCookie(reply, 'waiting', '', 0)
      if (session === undefined) return await reply.redirect('/console/sign-in', 303)
      setCookie(reply, 'session', session)
      return await reply.redirect(next, 303)
    } catch (error) {
      if (!(error instanceof DispatchError) || error.word !== 'forbidden') throw error
      return reply.code(403).page(signInCodePage(languageOf(request), { next, passkeys: { wrong: true } }))
    }
  })
  done()
}
