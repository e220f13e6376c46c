import type { Sessions } from '@dispatch/accounts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { keptPage, lostPage } from '../pages/kept.ts'
import { setCookie } from '../session/cookies.ts'
import { carriedForm, isCarrying, isLost } from '../session/kept-form.ts'
import { languageOf } from '../session/language.ts'
import { landingOf } from '../session/paths.ts'
import { firstPage } from './sign-in-pages.ts'

/**
 * Begins a session, and leads on: to the form that waits for its author, and else to `next`. Who must set up a second factor first is led
 * to that by each page.
 */
export async function signedIn (
  sessions: Sessions,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, next }: { session: string, next: string }
): Promise<FastifyReply> {
  setCookie(reply, 'session', session)
  if (isLost(request)) return reply.page(lostPage(languageOf(request), landingOf(next)))
  const kept = carriedForm(request)
  const actor = kept && await sessions.actorOf(session, request.ip)
  return kept !== undefined && kept.author === actor?.userId && actor.lacksSecondFactor !== true
    ? reply.page(keptPage(languageOf(request), kept))
    : reply.redirect(landingOf(next), 303)
}

/**
 * Leads to the sign-in where the wait for its second page is over. A form that was carried along waits on in its first page, which says so
 * where it is lost.
 */
export function beginAgain (request: FastifyRequest, reply: FastifyReply, next: string): FastifyReply {
  return isCarrying(request) ? reply.page(firstPage(request, { next })) : reply.redirect('/console/sign-in', 303)
}
