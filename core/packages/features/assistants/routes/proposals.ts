import { IdempotencyHeaders, page, problemIn } from '@dispatch/contract'
import { auditAuthorOf, idempotencyKeyOf, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { NewProposalBody, ProposalReview, ProposalsQuery, ProposalSummary, ProposalView, SeenBody } from '../contract/proposals.ts'
import type { Asker, Decider, Proposals } from '../service/proposals.ts'

const tags = ['Assistants']
const Params = Type.Object({ id: Type.String() })

/** Proposals: what an assistant asks for, and a person decides. */
export const proposalsRoutes: FastifyPluginCallbackTypebox<{ proposals: Proposals }> = (app, { proposals }, done) => {
  app.post('/api/v1/proposals', {
    config: {
      errors: ['validation_error', 'not_found', 'conflict', 'template_not_found', 'expectation_failed', 'validation_failed',
        'configuration_missing', 'provider_unavailable', 'timeout', 'idempotency_key_reused']
    },
    schema: {
      operationId: 'createProposal',
      tags,
      summary: 'Proposes a dispatch: a person looks at it, and sends or declines it.',
      headers: IdempotencyHeaders,
      body: NewProposalBody,
      response: { 201: ProposalView }
    }
  }, async (request, reply) => {
    const { proposal, replayed } = await proposals.create(askerOf(request), request.body, idempotencyKeyOf(request).idempotencyKey)
    if (replayed) reply.header('idempotency-replayed', 'true')
    return reply.code(201).send(proposal)
  })

  app.get('/api/v1/proposals', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listProposals',
      tags,
      summary: 'Lists the proposals of the user, for admins those of the company, the newest first, 100 at most.',
      querystring: ProposalsQuery,
      response: { 200: page(ProposalSummary) }
    }
  }, async ({ actor, query: { sandbox } }) => ({ data: await proposals.list(actor, sandbox), nextCursor: null }))

  app.get('/api/v1/proposals/:id', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'readProposal',
      tags,
      summary: 'Reads a proposal, with what sending it would do now, and what it would cost.',
      params: Params,
      response: { 200: ProposalReview }
    }
  }, async (request) => {
    const { problem, ...proposal } = await proposals.read(askerOf(request), uuidIn(request.params.id, 'proposal'))
    return { ...proposal, ...problem !== undefined && { problem: problemIn(problem, request.apiVersion) } }
  })

  app.post('/api/v1/proposals/:id/send', {
    config: {
      errors: ['validation_error', 'not_found', 'conflict', 'template_not_found', 'expectation_failed', 'validation_failed',
        'configuration_missing', 'provider_unavailable', 'timeout', 'insufficient_credits', 'budget_exceeded', 'idempotency_in_progress']
    },
    schema: {
      operationId: 'sendProposal',
      tags,
      summary: 'Sends a proposal as it was seen, once; it is queued as a dispatch of the person.',
      params: Params,
      body: SeenBody,
      response: { 200: ProposalView }
    }
  }, async (request) => proposals.send(deciderOf(request), uuidIn(request.params.id, 'proposal'), request.body.seen))

  app.post('/api/v1/proposals/:id/decline', {
    config: { errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'declineProposal',
      tags,
      summary: 'Declines a proposal: it is never sent.',
      params: Params,
      response: { 200: ProposalView }
    }
  }, async (request) => proposals.decline(deciderOf(request), uuidIn(request.params.id, 'proposal')))
  done()
}

function askerOf ({ actor, id: requestId }: FastifyRequest): Asker {
  return { actor, requestId }
}

function deciderOf (request: FastifyRequest): Decider {
  return { ...askerOf(request), author: auditAuthorOf(request) }
}
