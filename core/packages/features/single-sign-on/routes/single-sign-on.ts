import { DispatchError, Nothing } from '@dispatch/contract'
import { auditAuthorOf, integerIn, resourceNotFound } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { MySingleSignOnView, SingleSignOnBody, SingleSignOnQuery, SingleSignOnView, UnlinkBody } from '../contract/single-sign-on.ts'
import type { SingleSignOn } from '../service/single-sign-on.ts'

type Named = { Params: { id: string } }

const path = '/api/v1/company/single-sign-on'

/** The company's own OpenID provider, by which its people sign in at the console. */
export const singleSignOnRoutes: FastifyPluginCallbackTypebox<{ singleSignOn: SingleSignOn }> = (app, { singleSignOn }, done) => {
  app.get<{ Querystring: SingleSignOnQuery }>(path, {
    config: { errors: [] },
    schema: {
      operationId: 'readSingleSignOn',
      tags: ['Company'],
      summary: 'Reads the single sign-on of the company, or the redirect address for an issuer that is to be set (admins).',
      querystring: SingleSignOnQuery,
      response: { 200: SingleSignOnView }
    }
  }, ({ actor, query }) => singleSignOn.read(actor, query))

  app.put(path, {
    config: { errors: ['validation_failed', 'conflict'] },
    schema: {
      operationId: 'updateSingleSignOn',
      tags: ['Company'],
      summary: 'Sets the single sign-on of the company: an OpenID provider by which its people sign in at the console (admins).',
      description:
        'The configuration of the issuer is read first. It can be required once somebody has signed in by it. Sign-ins that are under ' +
        'way end.',
      body: SingleSignOnBody,
      response: { 200: SingleSignOnView }
    }
  }, (request) => singleSignOn.change({ actor: request.actor, author: auditAuthorOf(request) }, request.body))

  app.delete(path, {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'deleteSingleSignOn',
      tags: ['Company'],
      summary: 'Removes the single sign-on of the company, and as whom its provider knew the users (admins).',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    if (!await singleSignOn.remove({ actor: request.actor, author: auditAuthorOf(request) })) {
      throw new DispatchError('not_found', 'The company has no single sign-on.')
    }
    return reply.code(204).send(null)
  })

  app.get('/api/v1/my/single-sign-on', {
    config: { errors: [] },
    schema: {
      operationId: 'readMySingleSignOn',
      tags: ['Authentication'],
      summary: 'Tells whether the company has single sign-on, and whether it knows the user.',
      response: { 200: MySingleSignOnView }
    }
  }, ({ actor }) => singleSignOn.readOwn(actor))

  app.post('/api/v1/my/single-sign-on/unlink', {
    config: { errors: ['conflict', 'rate_limited'] },
    schema: {
      operationId: 'unlinkMySingleSignOn',
      tags: ['Authentication'],
      summary: 'Forgets as whom the company\'s provider knows the user, who has a password to sign in with.',
      description: 'A wrong password: 403. All tokens and other sessions end.',
      body: UnlinkBody,
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    await singleSignOn.unlinkOwn({ actor: request.actor, author: auditAuthorOf(request) }, request.body)
    return reply.code(204).send(null)
  })

  app.get<Named>('/api/v1/users/:id/single-sign-on', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'readUserSingleSignOn',
      tags: ['Users'],
      summary: 'Tells whether the company has single sign-on, and whether it knows a user (admins).',
      response: { 200: MySingleSignOnView }
    }
  }, async ({ actor, params: { id } }) => {
    const found = await singleSignOn.readOf(actor, integerIn(id) ?? 0)
    if (found === undefined) throw resourceNotFound('user', id)
    return found
  })

  app.delete<Named>('/api/v1/users/:id/single-sign-on', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'unlinkUser',
      tags: ['Users'],
      summary: 'Forgets as whom the company\'s provider knows a user (admins). All sessions and tokens of the user end.',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { actor, params: { id } } = request
    const userId = integerIn(id)
    if (userId === undefined || !await singleSignOn.unlink({ actor, author: auditAuthorOf(request) }, userId)) {
      throw resourceNotFound('linked user', id)
    }
    return reply.code(204).send(null)
  })
  done()
}
