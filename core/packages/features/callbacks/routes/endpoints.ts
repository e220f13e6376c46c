import { CallbackView, EndpointCallbackQuery, EndpointChanges, Endpoints, EndpointTest, EndpointView, isSince, NewCallbackSecret,
  NewEndpointBody, NewEndpointView, Nothing, page, ResendBody, Resent, type Version } from '@dispatch/contract'
import { auditAuthorOf, pageOf, requireSince, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Callbacks, maxResent } from '../service/callbacks.ts'
import { type CallbackEndpoints, maxEndpoints } from '../service/endpoints.ts'

/** The dependencies of the routes. */
export type EndpointNeeds = { endpoints: CallbackEndpoints, callbacks: Callbacks }
type ById = { Params: { id: string } }

const path = '/api/v1/company/callback-endpoints'
const tags = ['Callbacks']

/** Endpoints themselves. */
const endpointRoutes: FastifyPluginCallbackTypebox<EndpointNeeds> = (app, { endpoints }, done) => {
  app.get(path, {
    config: { errors: [] },
    schema: {
      operationId: 'listCallbackEndpoints',
      tags,
      summary: 'Lists the endpoints of the company, the oldest first (admins). Their secrets are not shown.',
      response: { 200: Endpoints }
    }
  }, async ({ actor, apiVersion }) => ({
    data: (await endpoints.list(actor.companyId)).map((endpoint) => shownIn(endpoint, apiVersion))
  }))

  app.post(path, {
    config: { errors: ['validation_failed', 'conflict'] },
    schema: {
      operationId: 'createCallbackEndpoint',
      tags,
      summary: `Creates an endpoint and shows its secret once; a company has at most ${maxEndpoints} (admins).`,
      description:
        'Every event that is told by callbacks is sent to each enabled endpoint that wants its type, whatever `callbackUrl` the dispatch ' +
        'has: with an id, attempts and a `sequence` of its own.',
      body: NewEndpointBody,
      response: { 201: NewEndpointView }
    }
  }, async (request, reply) => {
    const made = await endpoints.create(auditAuthorOf(request), request.body)
    return reply.code(201).header('cache-control', 'no-store').send(made)
  })

  app.get<ById>(`${path}/:id`, {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'readCallbackEndpoint',
      tags,
      summary: 'Reads an endpoint (admins).',
      response: { 200: EndpointView }
    }
  }, async (request) => shownIn(found(request, await endpoints.find(request.actor.companyId, idIn(request))), request.apiVersion))

  app.put<ById & { Body: EndpointChanges }>(`${path}/:id`, {
    config: { errors: ['not_found', 'validation_failed'] },
    schema: {
      operationId: 'updateCallbackEndpoint',
      tags,
      summary: 'Changes an endpoint; a field that is left out does not change (admins).',
      body: EndpointChanges,
      response: { 200: EndpointView }
    }
  }, async (request) => {
    const { apiVersion, body } = request
    requireSince('1.1.0', apiVersion, '/pausedUntil', body.pausedUntil)
    return shownIn(found(request, await endpoints.change(auditAuthorOf(request), idIn(request), body)), apiVersion)
  })

  app.delete<ById>(`${path}/:id`, {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'deleteCallbackEndpoint',
      tags,
      summary: 'Removes an endpoint with its secrets; what waits for it is stopped (admins).',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const removed = await endpoints.remove(auditAuthorOf(request), idIn(request))
    if (!removed) throw resourceNotFound('callback endpoint', request.params.id)
    return reply.code(204).send(null)
  })
  done()
}

/** The secret of an endpoint, and a trial of it. */
const trialRoutes: FastifyPluginCallbackTypebox<EndpointNeeds> = (app, { endpoints }, done) => {
  app.post<ById>(`${path}/:id/secret`, {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'rotateCallbackEndpointSecret',
      tags,
      summary: 'Creates a new secret of an endpoint and shows it once; the previous one stays valid for 24 hours (admins).',
      response: { 200: NewCallbackSecret }
    }
  }, async (request, reply) => {
    const made = found(request, await endpoints.rotate(auditAuthorOf(request), idIn(request)))
    return reply.header('cache-control', 'no-store').send(made)
  })

  app.post<ById>(`${path}/:id/test`, {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'testCallbackEndpoint',
      tags,
      summary: 'Sends the event `endpoint.test` to an endpoint now and tells what it answers; it is not tried again (admins).',
      response: { 200: EndpointTest }
    }
  }, async (request) => found(request, await endpoints.test(auditAuthorOf(request), idIn(request))))
  done()
}

/** What is sent to an endpoint. */
const callbackRoutes: FastifyPluginCallbackTypebox<EndpointNeeds> = (app, { endpoints, callbacks }, done) => {
  app.get<ById & { Querystring: EndpointCallbackQuery }>(`${path}/:id/callbacks`, {
    config: { errors: ['not_found', 'validation_error'] },
    schema: {
      operationId: 'listCallbackEndpointCallbacks',
      tags,
      summary: 'Lists the callbacks to an endpoint, the newest first, each with its attempts (admins).',
      querystring: EndpointCallbackQuery,
      response: { 200: page(CallbackView) }
    }
  }, async (request) => {
    const { limit = 25, ...query } = request.query
    requireSince('1.1.0', request.apiVersion, '/query/failedSince', query.failedSince)
    const { id: endpointId } = found(request, await endpoints.find(request.actor.companyId, idIn(request)))
    const sent = await callbacks.ofEndpoint({ companyId: request.actor.companyId, endpointId }, { ...query, limit: limit + 1 })
    return pageOf(sent, limit, ({ id }) => id)
  })

  app.post<ById & { Body: ResendBody }>(`${path}/:id/resend`, {
    config: { errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'resendFailedCallbacks',
      tags,
      summary: `Sends the failed and stopped callbacks of an endpoint again, the oldest first, at most ${maxResent} at once (admins).`,
      body: ResendBody,
      response: { 200: Resent }
    }
  }, async (request) => found(request, await callbacks.resend(auditAuthorOf(request), idIn(request), new Date(request.body.since))))
  done()
}

/** The endpoints of a company: they receive callbacks about every dispatch, beside the address that a dispatch has itself. */
export const callbackEndpointsRoutes: FastifyPluginAsyncTypebox<EndpointNeeds> = async (app, needs) => {
  await app.register(endpointRoutes, needs)
  await app.register(trialRoutes, needs)
  await app.register(callbackRoutes, needs)
}

/** What came with 1.1.0 is shown since then. */
function shownIn (endpoint: EndpointView, version: Version): EndpointView {
  if (isSince('1.1.0', version)) return endpoint
  const { pausedUntil: _, disabledAt: __, ...known } = endpoint
  return known
}

function idIn ({ params }: FastifyRequest<ById>): string {
  return uuidIn(params.id, 'callback endpoint')
}

function found<Thing> ({ params }: FastifyRequest<ById>, thing: Thing | undefined): Thing {
  if (thing === undefined) throw resourceNotFound('callback endpoint', params.id)
  return thing
}
