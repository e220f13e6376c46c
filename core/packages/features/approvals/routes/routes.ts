import { Nothing, page, problemIn } from '@dispatch/contract'
import { auditAuthorOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { ApprovalFacts, ApprovalRowsQuery, ApprovalRowView, ApprovalsQuery, ApprovalView, ApproveBody,
  RefuseBody } from '../contract/approvals.ts'
import { RuleBody, RuleView } from '../contract/rules.ts'
import type { Approvals } from '../service/approvals.ts'
import type { ApprovalRules } from '../service/rules.ts'

const tags = ['Approvals']
type Named = { Params: { id: string } }

const by = (request: FastifyRequest) => ({ actor: request.actor, author: auditAuthorOf(request) })
const idIn = ({ params }: { params: unknown }): string => uuidIn((params as Named['Params']).id, 'approval')
const sending = ['validation_error', 'not_found', 'conflict', 'template_not_found', 'expectation_failed', 'suppressed', 'validation_failed',
  'configuration_missing', 'provider_unavailable', 'timeout', 'insufficient_credits', 'budget_exceeded', 'idempotency_in_progress',
  'recording_unknown'] as const

/** What waits and what was decided. */
const readingRoutes: FastifyPluginCallbackTypebox<{ approvals: Approvals }> = (app, { approvals }, done) => {
  app.get('/api/v1/approvals', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listApprovals',
      tags,
      summary: 'Lists what waits for an approval and what was decided, the newest first, 100 at most.',
      description: 'For admins all of the company, for others what they have asked for and what they may decide about.',
      querystring: ApprovalsQuery,
      response: { 200: page(ApprovalFacts) }
    }
  }, async ({ actor, query: { status } }) => ({ data: await approvals.list(actor, status), nextCursor: null }))

  app.get('/api/v1/approvals/:id', {
    config: { errors: ['not_found', 'provider_unavailable', 'timeout'] },
    schema: {
      operationId: 'readApproval',
      tags,
      summary: 'Reads an approval, with what would be sent now, and what it would cost.',
      response: { 200: ApprovalView }
    }
  }, async (request) => {
    const { problem, ...approval } = await approvals.read(request.actor, idIn(request))
    return { ...approval, ...problem !== undefined && { problem: problemIn(problem, request.apiVersion) } }
  })

  app.get('/api/v1/approvals/:id/rows', {
    config: { errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'listApprovalRows',
      tags,
      summary: 'Lists the rows of a batch that waits for an approval, in their order, each with what would be sent.',
      description:
        'A page may be shorter than its limit, where the rows are large, or a search looks into many: `nextCursor` says whether there ' +
        'are more.',
      querystring: ApprovalRowsQuery,
      response: { 200: page(ApprovalRowView) }
    }
  }, async ({ actor, params, query: { limit = 25, cursor, search } }) => {
    const after = cursor === undefined ? 0 : Math.min(Number(cursor), 2_147_483_647)
    const { rows, next } = await approvals.rows(actor, idIn({ params }), { after, limit, search })
    return { data: rows, nextCursor: next === null ? null : String(next) }
  })
  done()
}

/** What somebody decides about it. */
const decidingRoutes: FastifyPluginCallbackTypebox<{ approvals: Approvals }> = (app, { approvals }, done) => {
  app.post('/api/v1/approvals/:id/approve', {
    config: { errors: sending },
    schema: {
      operationId: 'approve',
      tags,
      summary: 'Approves what waits, as it was seen: it is sent, once, as a dispatch of whoever asked for it.',
      description: 'For a person whom a rule names, or an admin where it names nobody, but never for whoever asked. The rules are asked ' +
        'again; of several, each needs one of its approvers: until then the status is `waiting`, and `asks` says for whom. What would be ' +
        'refused now waits on.',
      body: ApproveBody,
      response: { 200: ApprovalView }
    }
  }, async (request) => approvals.approve(by(request), idIn(request), request.body))

  app.post('/api/v1/approvals/:id/refuse', {
    config: { errors: ['validation_error', 'not_found', 'conflict'] },
    schema: {
      operationId: 'refuseApproval',
      tags,
      summary: 'Refuses what waits, with a reason: it is never sent.',
      body: RefuseBody,
      response: { 200: ApprovalView }
    }
  }, async (request) => approvals.refuse(by(request), idIn(request), request.body.reason))

  app.post('/api/v1/approvals/:id/withdraw', {
    config: { errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'withdrawApproval',
      tags,
      summary: 'Takes back what one has asked for oneself.',
      response: { 200: ApprovalView }
    }
  }, async (request) => approvals.withdraw(by(request), idIn(request)))
  done()
}

/** The rules of a company by which something waits. */
const ruleRoutes: FastifyPluginCallbackTypebox<{ approvalRules: ApprovalRules }> = (app, { approvalRules }, done) => {
  app.get('/api/v1/company/approval-rules', {
    config: { errors: [] },
    schema: {
      operationId: 'listApprovalRules',
      tags,
      summary: 'Lists the rules by which somebody else has to approve what the company sends.',
      response: { 200: page(RuleView) }
    }
  }, async ({ actor }) => ({ data: await approvalRules.list(actor.companyId), nextCursor: null }))

  app.post('/api/v1/company/approval-rules', {
    config: { errors: ['validation_error', 'validation_failed', 'conflict'] },
    schema: {
      operationId: 'addApprovalRule',
      tags,
      summary: 'Adds a rule: from now on, what it is about waits for an approval.',
      description: 'It holds for everybody and every way: a dispatch, a chain, a retry with other data, what has a `sendAt`, a batch, a ' +
        'proposal, the console, an API key. Tests, and what is only made and sent to nobody, wait for nothing. What waits answers 202 ' +
        'with `approval_required`.',
      body: RuleBody,
      response: { 201: RuleView }
    }
  }, async (request, reply) => reply.code(201).send(await approvalRules.add(by(request), request.body)))

  app.put<Named & { Body: RuleBody }>('/api/v1/company/approval-rules/:id', {
    config: { errors: ['validation_error', 'validation_failed', 'not_found'] },
    schema: {
      operationId: 'changeApprovalRule',
      tags,
      summary: 'Replaces a rule. What waits by it goes on waiting, for those whom it names now.',
      body: RuleBody,
      response: { 200: RuleView }
    }
  }, async (request) => {
    const { params: { id }, body } = request
    const changed = await approvalRules.change(by(request), uuidIn(id, 'rule'), body)
    if (changed === undefined) throw resourceNotFound('rule', id)
    return changed
  })

  app.delete<Named>('/api/v1/company/approval-rules/:id', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'removeApprovalRule',
      tags,
      summary: 'Removes a rule. What waits by it goes on waiting, for those whom it named.',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { params: { id } } = request
    if (!await approvalRules.remove(by(request), uuidIn(id, 'rule'))) throw resourceNotFound('rule', id)
    return reply.code(204).send(null)
  })
  done()
}

/** Approvals: what somebody else has to say yes to before it is sent, and the rules that want it. */
export const routes: FastifyPluginAsyncTypebox<{ approvals: Approvals, approvalRules: ApprovalRules }> = async (app, needs) => {
  await app.register(readingRoutes, needs)
  await app.register(decidingRoutes, needs)
  await app.register(ruleRoutes, needs)
}
