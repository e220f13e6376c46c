import { DispatchError, MySingleSignOnView, Nothing, type SingleSignOn, SingleSignOnBody, SingleSignOnView } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'

const path = '/api/v1/company/single-sign-on'

/** The company's own OpenID provider, by which its people sign in at the console. */
export const singleSignOnRoutes: FastifyPluginCallbackTypebox<{ singleSignOn: SingleSignOn }> = (app, { singleSignOn }, done) => {
  app.get(path, {
    config: { roles: ['admin', 'operator'], errors: [] },
    schema: {
      operationId: 'readSingleSignOn',
      tags: ['Company'],
      summary: 'Reads the single sign-on of the company (admins).',
      response: { 200: SingleSignOnView }
    }
  }, ({ actor }) => singleSignOn.read(actor))

  app.put(path, {
    config: { person: true, roles: ['admin', 'operator'], errors: ['validation_failed', 'conflict'] },
    schema: {
      operationId: 'updateSingleSignOn',
      tags: ['Company'],
      summary: 'Sets the single sign-on of the company: an OpenID provider by which its people sign in at the console (admins).',
      description: 'The configuration of the issuer is read first. It can be required once somebody has signed in by it.',
      body: SingleSignOnBody,
      response: { 200: SingleSignOnView }
    }
  }, (request) => singleSignOn.change({ actor: request.actor, author: auditAuthorOf(request) }, request.body))

  app.delete(path, {
    config: { person: true, roles: ['admin', 'operator'], errors: ['not_found'] },
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
  done()
}
