import { CompanyDomains, DispatchError, MySingleSignOnView, Nothing, type SingleSignOn, SingleSignOnBody, SingleSignOnQuery,
  SingleSignOnView, UnlinkBody } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { integerIn, resourceNotFound } from './path-parameters.ts'

type Named = { Params: { id: string } }

const path = '/api/v1/company/single-sign-on'

/** The company's own OpenID provider, by which its people sign in at the console. */
export const singleSignOnRoutes: FastifyPluginCallbackTypebox<{ singleSignOn: SingleSignOn }> = (app, { singleSignOn }, done) => {
  app.get<{ Querystring: SingleSignOnQuery }>(path, {
    config: { scopes: ['audit'], roles: ['admin', 'operator'], errors: [] },
    schema: {
      operationId: 'readSingleSignOn',
      tags: ['Company'],
      summary: 'Reads the single sign-on of the company, or the redirect address for an issuer that is to be set (admins).',
      querystring: SingleSignOnQuery,
      response: { 200: SingleSignOnView }
    }
  }, ({ actor, query }) => singleSignOn.read(actor, query))

  app.put(path, {
    config: { freshProof: true, roles: ['admin', 'operator'], errors: ['validation_failed', 'conflict'] },
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
    config: { freshProof: true, roles: ['admin', 'operator'], errors: ['not_found'] },
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
    config: { scopes: 'any', errors: [] },
    schema: {
      operationId: 'readMySingleSignOn',
      tags: ['Authentication'],
      summary: 'Tells whether the company has single sign-on, and whether it knows the user.',
      response: { 200: MySingleSignOnView }
    }
  }, ({ actor }) => singleSignOn.readOwn(actor))

  app.post('/api/v1/my/single-sign-on/unlink', {
    config: { person: true, errors: ['conflict', 'rate_limited'] },
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
    config: { scopes: ['audit'], roles: ['admin', 'operator'], errors: ['not_found'] },
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
    config: { freshProof: true, roles: ['admin', 'operator'], errors: ['not_found'] },
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

  app.get<Named>('/api/v1/companies/:id/domains', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['not_found'] },
    schema: {
      operationId: 'readCompanyDomains',
      tags: ['Platform'],
      summary: 'Reads the domains whose e-mail addresses lead to the single sign-on of a company (operators).',
      response: { 200: CompanyDomains }
    }
  }, async ({ params: { id } }) => foundCompany(id, await singleSignOn.domains(integerIn(id) ?? 0)))

  app.put<Named & { Body: CompanyDomains }>('/api/v1/companies/:id/domains', {
    config: { freshProof: true, roles: ['operator'], errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'updateCompanyDomains',
      tags: ['Platform'],
      summary: 'Sets the domains whose e-mail addresses lead to the single sign-on of a company (operators).',
      description: 'Anybody who gives such an address at the sign-in is led to the provider, and so learns who that is.',
      body: CompanyDomains,
      response: { 200: CompanyDomains }
    }
  }, async (request) => {
    const { actor, params: { id }, body } = request
    return foundCompany(id, await singleSignOn.setDomains({ actor, author: auditAuthorOf(request) }, integerIn(id) ?? 0, body))
  })
  done()
}

function foundCompany<Found> (id: string, found: Found | undefined): Found {
  if (found === undefined) throw resourceNotFound('company', id)
  return found
}
