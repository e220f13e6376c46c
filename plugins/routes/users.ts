import type { Users } from '@dispatch/accounts'
import { isSince, NewUserBody, Nothing, page, PageQuery, PasswordBody, UserChanges, UserDetail, UserView } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { pageOf } from './paging.ts'
import { integerIn, largestId, resourceNotFound } from './path-parameters.ts'

type Named = { Params: { id: string } }

/** The users of the actor's company, for those who run it; and everybody's own password. */
export const usersRoutes: FastifyPluginCallbackTypebox<{ users: Users }> = (app, { users }, done) => {
  app.get('/api/v1/users', {
    config: { scopes: ['audit'], roles: ['admin', 'operator'], errors: ['validation_error'] },
    schema: {
      operationId: 'listUsers',
      tags: ['Users'],
      summary: 'Lists the users of the company (admins).',
      querystring: PageQuery,
      response: { 200: page(UserView) }
    }
  }, async ({ actor, query: { limit = 25, cursor } }) => {
    const found = await users.list(actor, {
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: String(Math.min(Number(cursor), largestId)) })
    })
    return pageOf(found, limit, ({ id }) => id)
  })

  app.post('/api/v1/users', {
    config: { freshProof: true, roles: ['admin', 'operator'], errors: ['validation_failed', 'conflict'] },
    schema: {
      operationId: 'createUser',
      tags: ['Users'],
      summary: 'Creates a user of the company (admins). You cannot give a role above your own.',
      body: NewUserBody,
      response: { 201: UserView }
    }
  }, async (request, reply) => {
    return reply.code(201).send(await users.create({ actor: request.actor, author: auditAuthorOf(request) }, request.body))
  })

  app.get<Named>('/api/v1/users/:id', {
    config: { scopes: ['audit'], roles: ['admin', 'operator'], errors: ['not_found'] },
    schema: { operationId: 'readUser', tags: ['Users'], summary: 'Reads a user of the company (admins).', response: { 200: UserDetail } }
  }, async ({ actor, params, apiVersion }) => {
    const { ways, ...user } = await users.find(actor, idIn(params)) ?? nobody(params)
    return isSince('1.1.0', apiVersion) ? { ...user, ways } : user
  })

  app.put<Named & { Body: UserChanges }>('/api/v1/users/:id', {
    config: { freshProof: true, roles: ['admin', 'operator'], errors: ['not_found', 'validation_failed', 'conflict'] },
    schema: {
      operationId: 'updateUser',
      tags: ['Users'],
      summary: 'Changes a user of the company (admins); a field that is left out does not change.',
      description: 'A new password ends all sessions of the user. The last enabled admin of a company must stay an admin.',
      body: UserChanges,
      response: { 200: UserView }
    }
  }, async (request) => {
    const { actor, params, body } = request
    return await users.change({ actor, author: auditAuthorOf(request) }, idIn(params), body) ?? nobody(params)
  })

  app.post<Named>('/api/v1/users/:id/reset', {
    config: { freshProof: true, roles: ['admin', 'operator'], irreversible: true, errors: ['not_found'] },
    schema: {
      operationId: 'resetUser',
      tags: ['Users'],
      summary: 'Ends every way in of a user, after somebody else has got into it (admins).',
      description: 'Sessions and tokens, the password, second factor, passkeys and recovery codes, API keys, the link to the company\'s ' +
        'provider, and one-time links end. Make a link for another password then: POST /api/v1/users/{id}/password-link.',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { actor, params } = request
    if (!await users.reset({ actor, author: auditAuthorOf(request) }, idIn(params))) nobody(params)
    return reply.code(204).send(null)
  })

  app.put<{ Body: PasswordBody }>('/api/v1/my/password', {
    config: { person: true, errors: ['validation_failed'] },
    schema: {
      operationId: 'changeMyPassword',
      tags: ['Users'],
      summary: 'Changes the user\'s own password.',
      description: 'A wrong current password is answered with 403. All sessions end: log in again with the new password.',
      body: PasswordBody,
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    await users.changePassword({ actor: request.actor, author: auditAuthorOf(request) }, request.body)
    return reply.code(204).send()
  })
  done()
}

function idIn (params: Named['Params']): number {
  return integerIn(params.id) ?? nobody(params)
}

function nobody ({ id }: Named['Params']): never {
  throw resourceNotFound('user', id)
}
