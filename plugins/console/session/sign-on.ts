import type { Sessions, SigningOn } from '@dispatch/core'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { releasePermit } from '../../hooks/admission-control.ts'
import { languageOf, type Words } from '../language/language.ts'
import { leavingPage, returnedPage, signOnPage, signOnRefused } from '../pages/sign-on.ts'
import { readCookie, setCookie } from './cookies.ts'
import { ownPath } from './sign-in.ts'
import { OtherIdentity, visitOf } from './visit.ts'

type Fields = { company?: unknown, next?: unknown }
type Begun = Awaited<ReturnType<SigningOn['begin']>>

/** In seconds: as long as the core takes the answer of a provider. */
const tenMinutes = 600

/** Signing in by the provider of a company. */
export const signOnRoutes: FastifyPluginCallback<{ sessions: Sessions, signingOn: SigningOn }> = (app, { sessions, signingOn }, done) => {
  const open = { withoutSession: true, limit: 'auth' } as const

  /** Sends the browser to the provider. The form's policy lets a form lead to no other site, so a page does. */
  function leave (reply: FastifyReply, words: Words, begun: Begun, typed: { company: string, next: string }): FastifyReply {
    if (begun === undefined) return reply.code(403).page(signOnPage(words, { ...typed, refused: words.signOnUnknownCode }))
    setCookie(reply, 'signOn', begun.sealed, tenMinutes)
    return reply.page(leavingPage(words, begun.url))
  }

  app.get<{ Querystring: Fields }>('/sign-on', { config: { withoutSession: true } }, (request, reply) => {
    const { company, next } = request.query
    return reply.page(signOnPage(languageOf(request), { company: typeof company === 'string' ? company : '', next: ownPath(next) }))
  })

  app.post<{ Body: URLSearchParams }>('/sign-on', { config: open }, async (request, reply) => {
    const [company, next] = [(request.body.get('company') ?? '').trim().toLowerCase(), ownPath(request.body.get('next'))]
    releasePermit(request)
    return leave(reply, languageOf(request), await signingOn.begin(company, next), { company, next })
  })

  app.post('/sign-on/link', { config: { limit: 'auth' } }, async (request, reply) => {
    const { actor, acting, words } = visitOf(request)
    if (acting !== undefined) throw new OtherIdentity()
    return leave(reply, words, await signingOn.beginLink(actor), { company: '', next: '/console/sessions' })
  })

  app.get('/sign-on/callback', { config: open }, async (request, reply) => {
    const { ip: address, id: requestId, headers, url } = request
    const words = languageOf(request)
    const [sealed, answer] = [readCookie(request, 'signOn') ?? '', new URLSearchParams(url.split('?')[1] ?? '')]
    releasePermit(request)
    const signedOn = await signingOn.finish(sealed, answer, { address, requestId })
    if (sealed !== '') setCookie(reply, 'signOn', '', 0)
    if (signedOn.came === 'refused') return reply.code(403).page(signOnRefused(words, signedOn.why))
    setCookie(reply, 'session', await sessions.openFor(signedOn.userId, { address, browser: headers['user-agent'] ?? '' }))
    // The cookie of the session is sent with what this very site asks for: a redirect would still be the provider's.
    return reply.page(returnedPage(words, signedOn.next))
  })
  done()
}
