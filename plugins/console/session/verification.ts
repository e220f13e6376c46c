import { DispatchError } from '@dispatch/contract'
import type { Sessions } from '@dispatch/core'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { languageOf } from '../language/language.ts'
import { signInCodePage } from '../pages/sign-in-code.ts'
import { signInPage } from '../pages/sign-in.ts'
import type { FactorSection, VerificationForms } from '../pages/verification-forms.ts'
import { clientOf } from './client.ts'
import { readCookie, setCookie } from './cookies.ts'
import { fiveMinutes, landingOf, ownPath } from './paths.ts'
import { ownOf, partsOf } from './visit.ts'

const offered = Symbol('verifications')

declare module 'fastify' {
  interface FastifyInstance {
    [offered]: { sessions: Sessions, forms: VerificationForms[], sections: FactorSection[] }
  }
}

type Form = { Body: URLSearchParams }

/** Has the console ask for the kinds of verification that {@link offerVerification} tells it of. */
export function askForVerifications (app: FastifyInstance, sessions: Sessions): void {
  app.decorate(offered, { sessions, forms: [], sections: [] })
}

/** What the console shows of the kinds of verification that people can have, or of these. */
export function formsOf ({ server: { [offered]: { sessions, forms } } }: FastifyRequest, kinds = sessions.offered()): VerificationForms[] {
  return forms.filter(({ kind }) => kinds.includes(kind))
}

/** What the page of the second factor shows of the kinds that people can have. */
export function sectionsOf ({ server: { [offered]: { sessions, forms, sections } } }: FastifyRequest): FactorSection[] {
  const kinds = sessions.offered()
  return sections.filter(({ kind }) => kinds.includes(kind) || forms.every((one) => one.kind !== kind))
}

/** Has the page of the second factor show what the reader has of a kind that makes codes. Called once, by the pages of its feature. */
export function offerFactor (app: FastifyInstance, section: FactorSection): void {
  app[offered].sections.push(section)
}

/**
 * Has the console offer a kind of verification that a browser is asked for: alone, bound to this browser by a cookie with the challenge;
 * after a right password; and where a person must prove who they are. Called once, by the pages of the feature that has the kind.
 */
export function offerVerification (app: FastifyInstance, forms: VerificationForms): void {
  const { kind } = forms
  const { [offered]: { sessions } } = app
  app[offered].forms.push(forms)
  app[offered].sections.push(forms)
  const config = { withoutSession: true, limit: 'auth' } as const

  app.post(`/sign-in/${kind}/options`, { config }, async (_request, reply) => {
    const question = await sessions.ask(kind)
    if (question !== undefined) setCookie(reply, 'challenge', question.challenge, fiveMinutes)
    return ask(reply, question)
  })

  app.post<Form>(`/sign-in/${kind}`, { config }, async (request, reply) => {
    const [answer, next] = [request.body.get('answer') ?? '', ownPath(request.body.get('next'))]
    const challenge = readCookie(request, 'challenge') ?? ''
    const session = await sessions.openBy({ kind, answer, challenge }, clientOf(request))
    setCookie(reply, 'challenge', '', 0)
    if (session === undefined) {
      const verifications = { forms: formsOf(request), wrong: kind }
      return reply.code(403).page(signInPage(languageOf(request), { next, verifications, parts: partsOf(request) }))
    }
    setCookie(reply, 'session', session)
    return reply.redirect(landingOf(next), 303)
  })

  app.post(`/sign-in/code/${kind}/options`, { config },
    async (request, reply) => ask(reply, await sessions.ask(kind, readCookie(request, 'waiting') ?? '')))

  app.post<Form>(`/sign-in/code/${kind}`, { config }, async (request, reply) => {
    const [answer, next] = [request.body.get('answer') ?? '', ownPath(request.body.get('next'))]
    try {
      const session = await sessions.completeBy(readCookie(request, 'waiting') ?? '', { kind, answer }, clientOf(request))
      setCookie(reply, 'waiting', '', 0)
      if (session === undefined) return await reply.redirect('/console/sign-in', 303)
      setCookie(reply, 'session', session)
      return await reply.redirect(landingOf(next), 303)
    } catch (error) {
      if (!(error instanceof DispatchError) || error.word !== 'forbidden') throw error
      const verifications = { forms: formsOf(request), wrong: kind }
      return reply.code(403).page(signInCodePage(languageOf(request), { next, verifications }))
    }
  })

  app.post(`/proof/${kind}/options`, { config: { enrolment: true, limit: 'auth' } },
    async (request, reply) => ask(reply, await sessions.askProof(ownOf(request), kind)))
}

/** Answers the script of a form with what it asks the browser for. */
function ask (reply: FastifyReply, question: { options: object } | undefined): FastifyReply {
  return question === undefined ? reply.code(404).send({}) : reply.header('cache-control', 'no-store').send(question.options)
}
