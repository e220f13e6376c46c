import { Nothing } from '@dispatch/contract'
import { auditAuthorOf, codeIn } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { OAuthAppBody, OAuthApps, OAuthAppView, SandboxQuery } from '../contract/oauth-apps.ts'
import type { Clients } from '../service/clients.ts'

const tags = ['Platform']

/** The clients of the operator's at vendors, by which every company connects its account. */
export const oauthAppsRoutes: FastifyPluginCallbackTypebox<{ clients: Clients }> = (app, { clients }, done) => {
  app.get('/api/v1/oauth-apps', {
    config: { errors: [] },
    schema: {
      operationId: 'listOAuthApps',
      tags,
      summary: 'Lists the clients at vendors that providers need of the operator, with those that are registered. No secret is shown.',
      response: { 200: OAuthApps }
    }
  }, async () => ({ data: await clients.list() }))

  app.put<{ Params: { code: string }, Body: OAuthAppBody }>('/api/v1/oauth-apps/:code', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'updateOAuthApp',
      tags,
      summary: 'Registers the client of a provider, for all companies.',
      body: OAuthAppBody,
      response: { 200: OAuthAppView }
    }
  }, (request) => clients.put(codeIn(request.params.code), request.body, auditAuthorOf(request)))

  app.delete<{ Params: { code: string }, Querystring: { sandbox?: boolean } }>('/api/v1/oauth-apps/:code', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'deleteOAuthApp',
      tags,
      summary: 'Removes the client of a provider: connections go on until their tokens have to be renewed.',
      querystring: SandboxQuery,
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { params: { code }, query: { sandbox = false } } = request
    await clients.remove(codeIn(code), sandbox, auditAuthorOf(request))
    return reply.code(204).send()
  })
  done()
}
