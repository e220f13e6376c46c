import type { Impersonation } from '@dispatch/accounts'
import { ImpersonationBody, LoginResponse } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'

/** `POST /auth/impersonate`: impersonation. The token is sent only after the audit log of the user's company has an entry. */
export const impersonationRoutes: FastifyPluginCallbackTypebox<{ impersonate: Impersonation }> = (app, { impersonate }, done) => {
  app.post('/auth/impersonate', {
    config: { limit: 'auth', person: true, roles: ['admin', 'operator'], errors: ['not_found'] },
    schema: {
      operationId: 'impersonate',
      tags: ['Authentication'],
      summary: 'Act as another user',
      description:
        'Answers with a token under which an admin acts as a user of the company, or an operator as any user. The audit log shows ' +
        'both; an API key cannot do it, nor can who is somebody else already.',
      body: ImpersonationBody,
      response: { 200: LoginResponse }
    }
  }, async (request, reply) => {
    const data = await impersonate({ actor: request.actor, author: auditAuthorOf(request) }, request.body.userId)
    return reply.header('cache-control', 'no-store').send({ data })
  })
  done()
}
