import type { Actor, Sessions } from '@dispatch/core'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { proofPage } from '../pages/prove.ts'
import type { ProofNeeded } from './proof.ts'
import { visitOf } from './visit.ts'

/** Answers with the page that asks for a proof. */
export async function askForProof (
  sessions: Sessions,
  request: FastifyRequest,
  reply: FastifyReply,
  { refused, retryAfter }: ProofNeeded
): Promise<FastifyReply> {
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  const ways = await sessions.waysToProve(ownOf(request))
  const sent = request.body instanceof URLSearchParams ? [...request.body] : []
  return reply.code(refused === 'rate_limited' ? 429 : 403).page(proofPage(visitOf(request), { path: request.url, sent, ways, refused }))
}

/** The question that the passkey of a proof answers. */
export const proofRoutes: FastifyPluginCallback<{ sessions: Sessions }> = (app, { sessions }, done) => {
  app.post('/proof/passkey/options', { config: { enrolment: true, limit: 'auth' } }, async (request, reply) => {
    const question = await sessions.askProof(ownOf(request))
    return question === undefined ? reply.code(404).send({}) : reply.header('cache-control', 'no-store').send(question.options)
  })
  done()
}

/** Who has signed in, as whomever they act. */
function ownOf (request: FastifyRequest): Actor {
  const { actor, acting } = visitOf(request)
  return acting?.own ?? actor
}
