import { Nothing, page } from '@dispatch/contract'
import { auditAuthorOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { BudgetBody, BudgetChanges, BudgetView } from '../contract/budgets.ts'
import type { Budgets } from '../service/budgets.ts'

const tags = ['Usage']
type Named = { Params: { id: string } }

/** How much may be used in a month. */
export const budgetRoutes: FastifyPluginCallbackTypebox<{ budgets: Budgets }> = (app, { budgets }, done) => {
  const by = (request: FastifyRequest) => ({ actor: request.actor, author: auditAuthorOf(request) })

  app.get('/api/v1/budgets', {
    config: { errors: [] },
    schema: {
      operationId: 'listBudgets',
      tags,
      summary: 'Lists the monthly budgets of the company, its users and its API keys.',
      response: { 200: page(BudgetView) }
    }
  }, async ({ actor }) => ({ data: await budgets.list(actor.companyId), nextCursor: null }))

  app.post('/api/v1/budgets', {
    config: { errors: ['validation_error', 'validation_failed', 'conflict'] },
    schema: {
      operationId: 'addBudget',
      tags,
      summary: 'Sets a monthly budget, of the company, a user or an API key.',
      description: 'What was used in this month before counts too. At 80 and at 100 % the company is told once, by the callback ' +
        '`company.budget_reached` and by mail to its admins.',
      body: BudgetBody,
      response: { 201: BudgetView }
    }
  }, async (request, reply) => reply.code(201).send(await budgets.add(by(request), request.body)))

  app.put<Named & { Body: BudgetChanges }>('/api/v1/budgets/:id', {
    config: { errors: ['validation_error', 'not_found'] },
    schema: { operationId: 'changeBudget', tags, summary: 'Changes a budget.', body: BudgetChanges, response: { 200: BudgetView } }
  }, async (request) => {
    const { params: { id }, body } = request
    const changed = await budgets.change(by(request), uuidIn(id, 'budget'), body)
    if (changed === undefined) throw resourceNotFound('budget', id)
    return changed
  })

  app.delete<Named>('/api/v1/budgets/:id', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'removeBudget', tags, summary: 'Removes a budget.', response: { 204: Nothing } }
  }, async (request, reply) => {
    const { params: { id } } = request
    if (!await budgets.remove(by(request), uuidIn(id, 'budget'))) throw resourceNotFound('budget', id)
    return reply.code(204).send(null)
  })
  done()
}
