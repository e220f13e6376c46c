import type { Actor, Sessions } from '@dispatch/accounts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Words } from '../language/language.ts'
import { keptForAuthorPage, keptForFactorPage, keptPage, lostPage } from '../pages/kept.ts'
import { setCookie } from '../session/cookies.ts'
import { carriedForm, isCarrying, isLost, type KeptForm } from '../session/kept-form.ts'
import { languageOf } from '../session/language.ts'
import { landingOf } from '../session/paths.ts'
import { firstPage } from './sign-in-pages.ts'

/** Begins a session, and leads on. */
export async function signedIn (
  sessions: Sessions,
  request: FastifyRequest,
  reply: FastifyReply,
  { session, next }: { session: string, next: string }
): Promise<FastifyReply> {
  setCookie(reply, 'session', session)
  const kept = carriedForm(request)
  const actor = kept && await sessions.actorOf(session, request.ip)
  // Whoever signs in on the page where somebody else has written goes on without that.
  if (kept !== undefined && kept.author !== actor?.userId) return reply.redirect(landingOf(next), 303)
  return leadOn(request, reply, { actor, kept, next })
}

/**
 * Leads who has a session to the form that waits for them, and else to `next`. One whose author must set up a second factor first waits on,
 * as no page would take it before; so does one whose author is somebody else.
 */
export function leadOn (
  request: FastifyRequest,
  reply: FastifyReply,
  { actor, kept, next, words = languageOf(request) }: { actor: Actor | undefined, kept: KeptForm | undefined, next: string, words?: Words }
): FastifyReply {
  if (kept === undefined) return isLost(request) ? reply.page(lostPage(words, landingOf(next))) : reply.redirect(landingOf(next), 303)
  if (kept.author !== actor?.userId) return reply.page(keptForAuthorPage(words, { kept, next }))
  return reply.page((actor.lacksSecondFactor === true ? keptForFactorPage : keptPage)(words, { kept, next }))
}

/**
 * Leads to the sign-in where the wait for its second page is over. A form that was carried along waits on in its first page, which says so
 * where it is lost.
 */
export function beginAgain (request: FastifyRequest, reply: FastifyReply, next: string): FastifyReply {
  return isCarrying(request) ? reply.page(firstPage(request, { next })) : reply.redirect('/console/sign-in', 303)
}
