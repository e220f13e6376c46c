import { DispatchError } from '@dispatch/contract'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { clientOf } from '../session/client.ts'
import { readCookie, setCookie } from '../session/cookies.ts'
import { longestKept } from '../session/kept-form.ts'
import { offered, type VerificationForms } from '../session/offered.ts'
import { fiveMinutes, ownPath } from '../session/paths.ts'
import { ownOf } from '../session/visit.ts'
import { firstPage, secondPage } from './sign-in-pages.ts'
import { beginAgain, signedIn } from './signed-in.ts'

type Form = { Body: URLSearchParams }

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

  app.post<Form>(`/sign-in/${kind}`, { config, bodyLimit: longestKept }, async (request, reply) => {
    const [answer, next] = [request.body.get('answer') ?? '', ownPath(request.body.get('next'))]
    const challenge = readCookie(request, 'challenge') ?? ''
    const session = await sessions.openBy({ kind, answer, challenge }, clientOf(request))
    setCookie(reply, 'challenge', '', 0)
    if (session === undefined) {
      return reply.code(403).page(firstPage(request, { next }, { wrong: kind }))
    }
    return signedIn(sessions, request, reply, { session, next })
  })

  app.post(`/sign-in/code/${kind}/options`, { config },
    async (request, reply) => ask(reply, await sessions.ask(kind, readCookie(request, 'waiting') ?? '')))

  app.post<Form>(`/sign-in/code/${kind}`, { config, bodyLimit: longestKept }, async (request, reply) => {
    const [answer, next] = [request.body.get('answer') ?? '', ownPath(request.body.get('next'))]
    try {
      const session = await sessions.completeBy(readCookie(request, 'waiting') ?? '', { kind, answer }, clientOf(request))
      setCookie(reply, 'waiting', '', 0)
      if (session === undefined) return await beginAgain(request, reply, next)
      return await signedIn(sessions, request, reply, { session, next })
    } catch (error) {
      if (!(error instanceof DispatchError) || error.word !== 'forbidden') throw error
      return reply.code(403).page(secondPage(request, { next }, { wrong: kind }))
    }
  })

  app.post(`/proof/${kind}/options`, { config: { enrolment: true, limit: 'auth' } },
    async (request, reply) => ask(reply, await sessions.askProof(ownOf(request), kind)))
}

/** Answers the script of a form with what it asks the browser for. */
function ask (reply: FastifyReply, question: { options: object } | undefined): FastifyReply {
  return question === undefined ? reply.code(404).send({}) : reply.header('cache-control', 'no-store').send(question.options)
}
