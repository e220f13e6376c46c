import type { Sessions } from '@dispatch/accounts'
import { DispatchError } from '@dispatch/contract'
import { clientOf, inMode, landingOf, languageOf, modeOf, OtherIdentity, ownPath, proofIn, readCookie, refusals, releasePermit,
  setCookie } from '@dispatch/plugins/console'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { leavingPage, linkAccountPage, linkRefused, returnedPage, signOnPage, signOnRefused } from '../pages/sign-on.ts'
import { visitOf, type Words, wordsOf } from '../pages/words.ts'
import type { SigningOn } from '../service/signing-on.ts'

/** `fresh`: the person is to sign in at the provider again, as a proof of who they are. */
type Fields = { company?: unknown, next?: unknown, fresh?: unknown }
type Begun = Awaited<ReturnType<SigningOn['begin']>>

/** In seconds: for how long a proof counts. */
const proofLasts = 300
/** In seconds: as long as the core takes the answer of a provider. */
const tenMinutes = 600

/** Signing in by the provider of a company. */
export const signOnRoutes: FastifyPluginCallback<{ sessions: Sessions, signingOn: SigningOn }> = (app, { sessions, signingOn }, done) => {
  const open = { withoutSession: true, limit: 'auth' } as const

  /**
   * Sends the browser to the provider. The form's policy lets a form lead to no other site, so a page does, which says whose provider it
   * is. It leads on at once where the person has been told before (`seen`), or has named it otherwise than by a code.
   */
  function leave (
    reply: FastifyReply,
    words: Words,
    begun: Begun,
    typed: { company: string, next: string, seen?: string | null }
  ): FastifyReply {
    if (begun === undefined) {
      // An address is not the code of a company: it is not filled in as one.
      const refused = typed.company.includes('@')
        ? { company: '', refused: words.signOnUnknownEmail }
        : { refused: words.signOnUnknownCode }
      return reply.code(403).page(signOnPage(words, { ...typed, ...refused }))
    }
    setCookie(reply, 'signOn', begun.sealed, tenMinutes)
    return reply.page(leavingPage(words, begun, { atOnce: typed.seen === undefined || typed.seen === begun.issuer }))
  }

  app.get<{ Querystring: Fields }>('/sign-on', { config: { withoutSession: true } }, async (request, reply) => {
    const { query, query: { next, fresh } } = request
    const company = typeof query.company === 'string' ? query.company : ''
    const name = await signingOn.named(company)
    const requested = { company, next: inMode(ownPath(next), modeOf(request)), fresh: fresh !== undefined }
    return reply.page(signOnPage(wordsOf(languageOf(request)), { ...requested, ...name === undefined ? {} : { name } }))
  })

  app.post<{ Body: URLSearchParams }>('/sign-on', { config: open }, async (request, reply) => {
    const [company, next] = [(request.body.get('company') ?? request.body.get('email') ?? '').trim().toLowerCase(),
      ownPath(request.body.get('next'))]
    const seen = company.includes('@') ? {} : { seen: request.body.get('seen') }
    releasePermit(request)
    const requested = request.body.has('fresh') ? { maxAge: proofLasts } : {}
    return leave(reply, wordsOf(languageOf(request)), await signingOn.begin(company, next, requested), { company, next, ...seen })
  })

  app.post('/sign-on/link', { config: { limit: 'auth' } }, async (request, reply) => {
    const { actor, acting, words } = visitOf(request)
    if (acting !== undefined) throw new OtherIdentity()
    return leave(reply, words, await signingOn.beginLink(actor), { company: '', next: '/console/sessions' })
  })

  app.get('/sign-on/link', (request, reply) => {
    const { actor, words } = visitOf(request)
    const account = signingOn.linking(actor, readCookie(request, 'signOn') ?? '')
    if (account === undefined) return reply.code(403).page(linkRefused(words, 'expired'))
    return reply.page(linkAccountPage(words, account))
  })

  app.post<{ Body: URLSearchParams }>('/sign-on/link/finish', { config: { limit: 'auth' } }, async (request, reply) => {
    const { actor, acting, words } = visitOf(request)
    if (acting !== undefined) throw new OtherIdentity()
    const [sealed, { ip: address, id: requestId, body }] = [readCookie(request, 'signOn') ?? '', request]
    const { userId, companyId } = actor
    try {
      const why = await signingOn.link({ actor, author: { userId, companyId, address, requestId } }, sealed, proofIn(body))
      setCookie(reply, 'signOn', '', 0)
      return await (why === undefined ? reply.redirect('/console/sessions', 303) : reply.code(403).page(linkRefused(words, why)))
    } catch (error) {
      const account = signingOn.linking(actor, sealed)
      if (!(error instanceof DispatchError) || !refusals.has(error.word) || account === undefined) throw error
      return reply.code(error.status).page(linkAccountPage(words, account, error.status))
    }
  })

  async function comeBack (request: FastifyRequest, reply: FastifyReply, name?: string): Promise<FastifyReply> {
    const { ip: address, id: requestId, url } = request
    const words = wordsOf(languageOf(request))
    const [sealed, query] = [readCookie(request, 'signOn') ?? '', new URLSearchParams(url.split('?')[1] ?? '')]
    releasePermit(request)
    const signedOn = await signingOn.finish(sealed, { address: name, query }, { address, requestId })
    if (sealed !== '' && signedOn.came !== 'proved') setCookie(reply, 'signOn', '', 0)
    if (signedOn.came === 'proved') {
      setCookie(reply, 'signOn', signedOn.sealed, tenMinutes)
      return reply.page(returnedPage(words, '/console/sign-on/link'))
    }
    if (signedOn.came === 'refused') return reply.code(403).page(signOnRefused(words, signedOn.why))
    setCookie(reply, 'session', await sessions.openFor(signedOn.userId, clientOf(request), signedOn.provedAt))
    // The cookie of the session is sent with what this very site asks for: a redirect would still be the provider's.
    return reply.page(returnedPage(words, landingOf(signedOn.next)))
  }

  app.get('/sign-on/callback', { config: open }, (request, reply) => comeBack(request, reply))

  app.get<{ Params: { name: string } }>('/sign-on/callback/:name', { config: open },
    (request, reply) => comeBack(request, reply, request.params.name))
  done()
}
