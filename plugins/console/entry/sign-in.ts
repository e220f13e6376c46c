import type { Actor, Sessions } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import { secretIn } from '../form/body.ts'
import { languages } from '../language/language.ts'
import { besidePage, lostPage } from '../pages/kept.ts'
import { signInPath } from '../pages/sign-in.ts'
import { apiFor } from '../session/api.ts'
import { clientOf } from '../session/client.ts'
import { readCookie, setCookie } from '../session/cookies.ts'
import { carriedForm, isCarrying, keptFormIn, longestKept } from '../session/kept-form.ts'
import { fiveMinutes, ownPath } from '../session/paths.ts'
import { visitOf } from '../session/visit.ts'
import { firstPage, secondPage } from './sign-in-pages.ts'
import { leadOn, signedIn } from './signed-in.ts'

type Form = { Body: URLSearchParams }

/** Signing in and out, and the language, which a reader chooses before that. */
export const signInRoutes: FastifyPluginCallback<{ sessions: Sessions }> = (app, { sessions }, done) => {
  const open = { withoutSession: true }
  const readerOf = (request: FastifyRequest): Promise<Actor | undefined> =>
    sessions.actorOf(readCookie(request, 'session') ?? '', request.ip)

  app.get<{ Querystring: { next?: unknown, changed?: unknown, lost?: unknown } }>('/sign-in', { config: open }, async (request, reply) => {
    const actor = await readerOf(request)
    if (actor !== undefined) return reply.redirect(ownPath(request.query.next), 303)
    const { next, changed, lost } = request.query
    return reply.page(firstPage(request, { next: ownPath(next), changed: changed !== undefined, lost: lost !== undefined }))
  })

  app.get<{ Querystring: { next?: unknown } }>('/sign-in-again', { config: open },
    (request, reply) => reply.redirect(signInPath(ownPath(request.query.next)), 303))

  // A form whose session has ended waits in the page of the sign-in for its author, who may have signed in beside it. `author`: whoever has
  // signed in is not the author.
  app.post<Form & { Querystring: { next?: unknown, author?: unknown } }>('/sign-in-again', { config: open, bodyLimit: longestKept },
    async (request, reply) => {
      const [kept, next] = [keptFormIn(request) ?? carriedForm(request), ownPath(request.query.next)]
      const actor = request.query.author === undefined ? await readerOf(request) : undefined
      return actor === undefined ? reply.page(firstPage(request, { next, kept })) : leadOn(request, reply, { actor, kept, next })
    })

  app.get<{ Querystring: { lost?: unknown } }>('/kept', { config: { enrolment: true } }, (request, reply) => {
    const visit = visitOf(request)
    const { words } = visit
    return reply.page(
      request.query.lost === undefined ? besidePage(visit) : lostPage(words, '/console/second-factor', words.keptNotForFactor)
    )
  })

  app.post<Form>('/sign-in', { config: { ...open, limit: 'auth' }, bodyLimit: longestKept }, async (request, reply) => {
    const { body } = request
    const [email, password, next] = [body.get('email') ?? '', secretIn(body, 'password') ?? '', ownPath(body.get('next'))]
    try {
      const entered = await sessions.open(email, password, clientOf(request))
      if ('waiting' in entered) {
        setCookie(reply, 'waiting', entered.waiting, fiveMinutes)
        if (!isCarrying(request)) {
          return await reply.redirect(`/console/sign-in/code?next=${encodeURIComponent(next)}`, 303)
        }
        const waiting = await sessions.waitingFor(entered.waiting)
        return await reply.page(secondPage(request, { next }, { kinds: waiting?.kinds ?? [] }))
      }
      return await signedIn(sessions, request, reply, { session: entered.session, next })
    } catch (error) {
      if (!(error instanceof DispatchError) || !refusals.has(error.word)) throw error
      if (error.retryAfter !== undefined) reply.header('retry-after', error.retryAfter)
      return reply.code(error.status).page(firstPage(request, { next, email, refused: error.word }))
    }
  })

  app.post('/sign-out', { config: { enrolment: true, confirms: 'undone' } }, async (request, reply) => {
    const { actor, acting: { own } = { own: actor } } = visitOf(request)
    await apiFor(request, own).send('DELETE', `/api/v1/my/sessions/${own.sessionId ?? ''}`)
    for (const name of ['session', 'waiting', 'challenge', 'signOn'] as const) setCookie(reply, name, '', 0)
    return reply.header('clear-site-data', forgotten).redirect('/console/sign-in', 303)
  })

  app.post<Form>('/language', { config: open, bodyLimit: longestKept }, async (request, reply) => {
    const { body } = request
    const language = body.get('language') === 'fr' ? 'fr' : 'en'
    setCookie(reply, 'language', language, year)
    const [next, words] = [ownPath(body.get('next')), languages[language]]
    if (!isCarrying(request)) return reply.redirect(next, 303)
    if (!body.has('code')) {
      // Both pages of the sign-in have fields; those in which a form waits for its author have none.
      const actor = body.has('email') ? undefined : await readerOf(request)
      if (actor !== undefined) return leadOn(request, reply, { actor, kept: carriedForm(request), next, words })
      return reply.page(firstPage(request, { next, email: body.get('email') ?? '' }, { words }))
    }
    const waiting = await sessions.waitingFor(readCookie(request, 'waiting') ?? '')
    return reply.page(secondPage(request, { next }, { words, kinds: waiting?.kinds ?? [] }))
  })
  done()
}

/**
 * What a browser forgets at the sign-out: pages that it keeps, and what they have stored. The cookies are ended one by one: "cookies" would
 * reach those of every host of the domain.
 */
const forgotten = '"cache", "storage"'

/** The refusals that the form itself shows. */
export const refusals: ReadonlySet<string> = new Set(['forbidden', 'rate_limited'])

/** In seconds. */
const year = 31_536_000
