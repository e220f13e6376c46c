import type { Sessions } from '@dispatch/accounts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { keptPage } from '../pages/kept.ts'
import { setCookie } from '../session/cookies.ts'
import { carriedForm } from '../session/kept-form.ts'
import { languageOf } from '../session/language.ts'
import { landingOf } from '../session/paths.ts'

/** Begins a session, and leads on: to the form that waits for its author, and else to `next`. */
export async function signedIn (
  sessions: Sessions,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, next }: { session: string, next: string }
): Promise<FastifyReply> {
  setCookie(reply, 'session', session)
  const kept = carriedForm(request)
  const actor = kept && await sessions.actorOf(session, request.ip)
  return kept !== undefined && kept.author === actor?.userId
    ? reply.page(keptPage(languageOf(request), kept))
    : reply.redirect(landingOf(next), 303)
}
