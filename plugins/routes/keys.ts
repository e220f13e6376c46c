import type { KeyAdministration } from '@dispatch/accounts'
import { KeyQuery, KeyView, NewKeyBody, NewKeyView, Nothing, page } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { pageOf } from './paging.ts'
import { resourceNotFound, uuidIn } from './path-parameters.ts'
import { requireSince } from './since.ts'

/** Keys with which programs act for users: made and revoked by people alone. */
export const keysRoutes: FastifyPluginCallbackTypebox<{ keys: KeyAdministration }> = (app, { keys }, done) => {
  app.post('/api/v1/keys', {
    config: { freshProof: true, errors: ['not_found', 'conflict', 'validation_failed'] },
    schema: {
      operationId: 'createKey',
      tags: ['Keys'],
      summary: 'Creates an API key and shows it once: for yourself, or as an admin for a user of the company.',
      body: NewKeyBody,
      response: { 201: NewKeyView }
    }
  }, async (request, reply) => {
    const { actor, body } = request
    const made = await keys.create({ actor, author: auditAuthorOf(request) }, body)
    if (made === undefined) throw resourceNotFound('user', String(body.userId ?? actor.userId))
    return reply.code(201).header('cache-control', 'no-store').send(made)
  })

  app.get<{ Querystring: KeyQuery }>('/api/v1/keys', {
    config: { scopes: ['audit'], errors: ['validation_error'] },
    schema: {
      operationId: 'listKeys',
      tags: ['Keys'],
      summary: 'Lists the API keys that are not revoked, the newest first: your own, or as an admin those of the company.',
      querystring: KeyQuery,
      response: { 200: page(KeyView) }
    }
  }, async ({ actor, apiVersion, query }) => {
    const { limit = 25, cursor, ...filter } = query
    requireSince('1.1.0', apiVersion, '/query/mode', filter.mode)
    const found = await keys.list(actor, { limit: limit + 1, ...filter, ...cursor === undefined ? {} : { after: cursor } })
    return pageOf(found, limit, ({ id }) => id)
  })

  app.delete<{ Params: { id: string } }>('/api/v1/keys/:id', {
    config: { person: true, errors: ['not_found'] },
    schema: {
      operationId: 'deleteKey',
      tags: ['Keys'],
      summary: 'Revokes an API key: the next request with it is refused, in every process.',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { actor, params } = request
    const revoked = await keys.revoke({ actor, author: auditAuthorOf(request) }, uuidIn(params.id, 'key'))
    if (!revoked) throw resourceNotFound('key', params.id)
    return reply.code(204).send(null)
  })
  done()
}
