import { RecoveryCodesView } from '@dispatch/contract'
import { auditAuthorOf } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { CodeBody, NewAuthenticatorView } from '../contract/authenticators.ts'
import type { Authenticators } from '../service/authenticators.ts'

const tags = ['Second factor']

/** The app of the user that makes codes. */
export const authenticatorsRoutes: FastifyPluginCallbackTypebox<{ authenticators: Authenticators }> = (app, { authenticators }, done) => {
  app.post('/api/v1/my/second-factor', {
    config: { errors: ['conflict'] },
    schema: {
      operationId: 'beginMySecondFactor',
      tags,
      summary: 'Makes a secret for an app that makes codes (RFC 6238). It counts once a code has confirmed it.',
      response: { 201: NewAuthenticatorView }
    }
  }, async (request, reply) => {
    const begun = await authenticators.begin({ actor: request.actor, author: auditAuthorOf(request) })
    return reply.code(201).header('cache-control', 'no-store').send(begun)
  })

  app.post('/api/v1/my/second-factor/confirm', {
    config: { errors: ['conflict'] },
    schema: {
      operationId: 'confirmMySecondFactor',
      tags,
      summary: 'Confirms the app with a code, and answers the recovery codes.',
      description: 'From now on the password alone does not sign the user in. All tokens and other sessions end. A wrong code: 403.',
      body: CodeBody,
      response: { 200: RecoveryCodesView }
    }
  }, async (request, reply) => {
    const codes = await authenticators.confirm({ actor: request.actor, author: auditAuthorOf(request) }, request.body.code)
    return reply.header('cache-control', 'no-store').send(codes)
  })
  done()
}
