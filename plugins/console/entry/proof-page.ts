import type { Sessions } from '@dispatch/accounts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sentIn } from '../form/body.ts'
import { proofPage } from '../pages/prove.ts'
import { formsOf } from '../session/offered.ts'
import type { ProofNeeded } from '../session/proof.ts'
import { ownOf, visitOf } from '../session/visit.ts'

/** Answers with the page that asks for a proof. */
export async function askForProof (
  sessions: Sessions,
  request: FastifyRequest,
  reply: FastifyReply,
  { refused, retryAfter }: ProofNeeded
): Promise<FastifyReply> {
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  const ways = await sessions.waysToProve(ownOf(request))
  const sent = request.body instanceof URLSearchParams ? sentIn(request.body) : []
  return reply.code(refused === 'rate_limited' ? 429 : 403).page(
    proofPage(visitOf(request), { path: request.url, sent, ways, forms: formsOf(request, ways.kinds), refused })
  )
}
