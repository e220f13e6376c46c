import { CallbackSecrets, CallbackView, NewCallbackSecret, page, PageQuery, UuidPageQuery } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { auditAuthorOf, findVisibleDispatch, largestId, pageOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { Callbacks } from '../service/callbacks.ts'
import type { Signing } from '../service/signing.ts'

/** The dependencies of the routes. */
export type CallbackNeeds = { database: Database, callbacks: Callbacks, signing: Pick<Signing, 'list' | 'rotate'> }

/** What a company is told about its dispatches and itself, and the secret that proves it. */
export const callbacksRoutes: FastifyPluginCallbackTypebox<CallbackNeeds> = (
  app,
  { database, callbacks, signing },
  done
) => {
  async function callbacksOf (
    companyId: number,
    dispatchId: string | null,
    { limit = 25, cursor }: PageQuery
  ): Promise<{ data: CallbackView[], nextCursor: string | null }> {
    const found = await callbacks.list(companyId, dispatchId, {
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: String(Math.min(Number(cursor), largestId)) })
    })
    return pageOf(found, limit, ({ sequence }) => sequence)
  }

  app.get<{ Params: { id: string }, Querystring: PageQuery }>('/api/v1/dispatches/:id/callbacks', {
    config: { errors: ['not_found', 'validation_error'] },
    schema: {
      operationId: 'listDispatchCallbacks',
      tags: ['Callbacks'],
      summary: 'Lists the callbacks of a dispatch in order, each with its attempts.',
      querystring: PageQuery,
      response: { 200: page(CallbackView) }
    }
  }, async ({ actor, params, query }) => {
    const { dispatch_id: dispatchId } = await findVisibleDispatch(database, actor, params.id)
    return callbacksOf(actor.companyId, dispatchId, query)
  })

  app.get('/api/v1/company/callbacks', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listCompanyCallbacks',
      tags: ['Callbacks'],
      summary: 'Lists the callbacks about the company itself in order, each with its attempts (admins).',
      querystring: PageQuery,
      response: { 200: page(CallbackView) }
    }
  }, ({ actor, query }) => {
    return callbacksOf(actor.companyId, null, query)
  })

  app.get('/api/v1/company/callbacks/failed', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listFailedCallbacks',
      tags: ['Callbacks'],
      summary: 'Lists the callbacks of dispatches and of the company whose addresses have not taken them, the newest first (admins).',
      querystring: UuidPageQuery,
      response: { 200: page(CallbackView) }
    }
  }, async ({ actor, query: { limit = 25, cursor } }) => {
    const found = await callbacks.failed(actor.companyId, { limit: limit + 1, ...(cursor === undefined ? {} : { after: cursor }) })
    return pageOf(found, limit, ({ id }) => id)
  })

  app.post<{ Params: { id: string } }>('/api/v1/callbacks/:id/replay', {
    config: { errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'replayCallback',
      tags: ['Callbacks'],
      summary: 'Sends a callback again under the same id, with all retries available again (admins).',
      response: { 200: CallbackView }
    }
  }, async (request) => {
    const { params } = request
    const [author, id] = [auditAuthorOf(request), uuidIn(params.id, 'callback')]
    const replayed = await callbacks.replay(author, id)
    if (replayed === undefined) throw resourceNotFound('callback', params.id)
    return replayed
  })

  app.get('/api/v1/company/callback-secret', {
    config: { errors: [] },
    schema: {
      operationId: 'listCallbackSecrets',
      tags: ['Callbacks'],
      summary: 'Tells when the secrets that callbacks are signed with were made and how long they are valid (admins). They are not shown.',
      response: { 200: CallbackSecrets }
    }
  }, ({ actor }) => {
    return signing.list(actor.companyId)
  })

  app.post('/api/v1/company/callback-secret', {
    config: { errors: [] },
    schema: {
      operationId: 'createCallbackSecret',
      tags: ['Callbacks'],
      summary: 'Creates a new secret and shows it once; the previous one stays valid for 24 hours (admins).',
      response: { 200: NewCallbackSecret }
    }
  }, async (request, reply) => {
    const made = await signing.rotate(auditAuthorOf(request), null)
    return reply.header('cache-control', 'no-store').send(made)
  })
  done()
}
