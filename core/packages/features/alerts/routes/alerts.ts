import { Nothing, page } from '@dispatch/contract'
import { auditAuthorOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { AlertBody, AlertView, TrialView } from '../contract/alerts.ts'
import type { Alerts } from '../service/alerts.ts'

const tags = ['Alerts']
type Named = { Params: { id: string } }

/** Routes of alerts: which conditions a company is notified of. */
export const routes: FastifyPluginCallbackTypebox<{ alerts: Alerts }> = (app, { alerts }, done) => {
  app.get('/api/v1/alerts', {
    config: { errors: [] },
    schema: { operationId: 'listAlerts', tags, summary: 'Lists the alerts of the company.', response: { 200: page(AlertView) } }
  }, async ({ actor }) => ({ data: await alerts.list(actor.companyId), nextCursor: null }))

  app.post('/api/v1/alerts', {
    config: { errors: ['validation_error', 'validation_failed', 'conflict'] },
    schema: {
      operationId: 'addAlert',
      tags,
      summary: 'Sets an alert, of which a company has 20 at most.',
      description:
        'It is looked at once a minute. When its condition is met it begins, and tells that once by each of its ways; when the ' +
        'condition has not been met for 5 minutes it ends, and tells that too. It begins again no sooner than 10 minutes later.',
      body: AlertBody,
      response: { 201: AlertView }
    }
  }, async (request, reply) => reply.code(201).send(await alerts.add(auditAuthorOf(request), request.body)))

  app.get<Named>('/api/v1/alerts/:id', {
    config: { errors: ['not_found'] },
    schema: { operationId: 'readAlert', tags, summary: 'Reads an alert.', response: { 200: AlertView } }
  }, async ({ actor, params: { id } }) => await alerts.find(actor.companyId, uuidIn(id, 'alert')) ?? absent(id))

  app.put<Named & { Body: AlertBody }>('/api/v1/alerts/:id', {
    config: { errors: ['validation_error', 'validation_failed', 'not_found'] },
    schema: {
      operationId: 'changeAlert',
      tags,
      summary: 'Replaces an alert; the address of a chat that is left out stays.',
      body: AlertBody,
      response: { 200: AlertView }
    }
  }, async (request) => {
    const { params: { id }, body } = request
    return await alerts.change(auditAuthorOf(request), uuidIn(id, 'alert'), body) ?? absent(id)
  })

  app.delete<Named>('/api/v1/alerts/:id', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'removeAlert',
      tags,
      summary: 'Removes an alert; what it has not yet told is not told.',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { params: { id } } = request
    if (!await alerts.remove(auditAuthorOf(request), uuidIn(id, 'alert'))) absent(id)
    return reply.code(204).send(null)
  })

  app.post<Named>('/api/v1/alerts/:id/try', {
    config: { errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'tryAlert',
      tags,
      summary: 'Sends a trial message by each way of an alert, once a minute at most.',
      description: 'By callback it is an `alert.began` with `trial`. A mail that is sent is on its way: it may still come back.',
      response: { 200: TrialView }
    }
  }, async (request) => {
    const { params: { id } } = request
    return await alerts.attempt(auditAuthorOf(request), uuidIn(id, 'alert')) ?? absent(id)
  })
  done()
}

function absent (id: string): never {
  throw resourceNotFound('alert', id)
}
