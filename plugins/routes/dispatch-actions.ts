import { ChainResponse, DispatchResponse, DispatchView, QueuedResponse, ResolveBody, RetryBody, SayingBody, SayingsView, SayingView,
  ScheduleBody } from '@dispatch/contract'
import { type Addresses, type Pipeline, responseOf, viewOf } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { auditAuthorOf } from './audit-author.ts'
import { callerOf, dispatchRouteOptions, ModeQuery } from './dispatch-route.ts'
import { uuidIn } from './path-parameters.ts'
import { findVisibleDispatch } from './visible-dispatches.ts'

type Options = { database: Database, pipeline: Pipeline, addresses: Addresses }
type Named = { Params: { id: string } }

async function view (
  { database, addresses }: Pick<Options, 'database' | 'addresses'>,
  { actor, apiVersion }: Pick<FastifyRequest, 'actor' | 'apiVersion'>,
  id: string
): Promise<DispatchView> {
  return viewOf(await findVisibleDispatch(database, actor, id), addresses.document, apiVersion)
}

/** Retrying and cancelling. */
const courseRoutes: FastifyPluginCallbackTypebox<Options> = (app, needs, done) => {
  const { pipeline, addresses } = needs

  app.post<Named>('/api/v1/dispatches/:id/retry', dispatchRouteOptions(
    {
      operationId: 'retryDispatch',
      tags: ['Dispatches'],
      summary: 'Lets a dispatch go on at the step that failed, and does its deferred actions again that failed: what was done is not ' +
        'repeated, what was made is not made again.',
      body: RetryBody,
      querystring: ModeQuery,
      response: { 200: Type.Union([DispatchResponse, ChainResponse, QueuedResponse]) }
    },
    [DispatchResponse, ChainResponse],
    ['not_found', 'conflict', 'document_expired', 'partially_dispatched']
  ), async (request) => {
    const result = await pipeline.retry({
      ...callerOf(request),
      author: auditAuthorOf(request),
      dispatchId: uuidIn(request.params.id, 'dispatch'),
      body: request.body
    })
    request.dispatchId = result.dispatchId
    return responseOf(result, addresses, request.apiVersion)
  })

  app.post<Named>('/api/v1/dispatches/:id/cancel', {
    config: {
      scopes: ['send'],
      irreversible: true,
      errors: ['not_found', 'conflict', 'authentication_error', 'configuration_missing', 'provider_unavailable', 'outcome_unknown']
    },
    schema: {
      operationId: 'cancelDispatch',
      tags: ['Dispatches'],
      summary: 'Cancels a dispatch of which nothing has begun, or asks the vendor to take back what it has accepted.',
      description: 'What a vendor has accepted stays paid; its delivery status becomes "cancelled" when the vendor says so. A vendor for ' +
        'which it is too late, or a provider that cannot cancel, is a 409. A 504 "outcome_unknown" means that the vendor may have taken ' +
        'it back: the delivery status tells later. Asking again is safe.',
      response: { 200: DispatchView }
    }
  }, async (request) => {
    const { actor, params } = request
    const dispatchId = uuidIn(params.id, 'dispatch')
    await pipeline.cancel({ actor, author: auditAuthorOf(request), dispatchId })
    return view(needs, request, dispatchId)
  })
  done()
}

/** What the seller says of an e-invoice. */
const statusRoutes: FastifyPluginCallbackTypebox<Options> = (app, { database, pipeline }, done) => {
  app.get<Named>('/api/v1/dispatches/:id/statuses', {
    config: { scopes: ['read_own', 'read_all'], errors: ['not_found'] },
    schema: {
      operationId: 'listInvoiceStatuses',
      tags: ['Dispatches'],
      summary: 'Lists what the seller has said of an e-invoice, the oldest first, and what may be said now.',
      description: 'Since version 1.1.0. What the customer and the platforms say is the delivery status of the dispatch.',
      response: { 200: SayingsView }
    }
  }, async ({ actor, params }) => pipeline.sayings(await findVisibleDispatch(database, actor, params.id)))

  app.post('/api/v1/dispatches/:id/statuses', {
    config: {
      scopes: ['send'],
      irreversible: true,
      errors: ['not_found', 'conflict', 'validation_failed', 'document_expired', 'authentication_error', 'configuration_missing',
        'provider_unavailable', 'outcome_unknown']
    },
    schema: {
      operationId: 'sayInvoiceStatus',
      tags: ['Dispatches'],
      summary: 'Says what the seller of an e-invoice must say: above all that it is paid (212, encaissée), by rate of VAT.',
      description: 'Since version 1.1.0. For e-invoices that a French platform has accepted by a provider that can say it. The same said ' +
        'again is answered with what was said, and never sent twice: after a 504 "outcome_unknown" say it once more. With 212 the ' +
        'delivery status becomes "partly_paid", and "paid" once what is due has come in. What the platform refuses after it has taken it ' +
        'is taken back: the delivery status is what it was before, with a callback.',
      body: SayingBody,
      response: { 200: SayingView }
    }
  }, async (request) => {
    const { actor, params, body } = request
    const dispatchId = uuidIn((params as Named['Params']).id, 'dispatch')
    return pipeline.say({ actor, author: auditAuthorOf(request), dispatchId, body })
  })
  done()
}

/** Another time, and the outcome of an uncertain step. */
const planRoutes: FastifyPluginCallbackTypebox<Options> = (app, needs, done) => {
  const { pipeline } = needs

  app.put('/api/v1/dispatches/:id/schedule', {
    config: { scopes: ['send'], errors: ['not_found', 'conflict', 'validation_failed', 'budget_exceeded'] },
    schema: {
      operationId: 'moveDispatch',
      tags: ['Dispatches'],
      summary: 'Gives a dispatch that waits for its time another one.',
      description: 'Since version 1.1.0. A dispatch that has begun, or waits for no time, is a 409.',
      body: ScheduleBody,
      response: { 200: DispatchView }
    }
  }, async (request) => {
    const { actor, params, body } = request
    const dispatchId = uuidIn((params as Named['Params']).id, 'dispatch')
    await pipeline.move({ actor, author: auditAuthorOf(request), dispatchId, requested: body })
    return view(needs, request, dispatchId)
  })

  app.post('/api/v1/dispatches/:id/resolve', {
    config: { scopes: ['send'], roles: ['admin'], irreversible: true, errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'resolveDispatch',
      tags: ['Dispatches'],
      summary: 'Records the outcome of an uncertain step, as an admin has found it out.',
      body: ResolveBody,
      response: { 200: DispatchView }
    }
  }, async (request) => {
    const { actor, params, body } = request
    const dispatchId = uuidIn((params as Named['Params']).id, 'dispatch')
    await pipeline.resolve({ actor, author: auditAuthorOf(request), dispatchId, ...body })
    return view(needs, request, dispatchId)
  })
  done()
}

/** What people do with a recorded dispatch: retry it, cancel it, move it to another time, or resolve an uncertain step. */
export const dispatchActionRoutes: FastifyPluginAsyncTypebox<Options> = async (app, needs) => {
  await app.register(courseRoutes, needs)
  await app.register(statusRoutes, needs)
  await app.register(planRoutes, needs)
}
