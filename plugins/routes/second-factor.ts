import type { SecondFactors } from '@dispatch/accounts'
import { Nothing, ProofBody, RecoveryCodesView, SecondFactorView } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { integerIn, resourceNotFound } from './path-parameters.ts'

const tags = ['Second factor']
const ofPerson = { person: true, enrolment: true } as const

/** The second factor of the user, and how an admin takes it from a user who has lost it. */
export const secondFactorRoutes: FastifyPluginCallbackTypebox<{ secondFactors: SecondFactors }> = (app, { secondFactors }, done) => {
  app.get('/api/v1/my/second-factor', {
    config: { ...ofPerson, errors: [] },
    schema: {
      operationId: 'readMySecondFactor',
      tags,
      summary: 'Reads whether the user has a second factor, and whether the company demands one.',
      response: { 200: SecondFactorView }
    }
  }, ({ actor }) => secondFactors.state(actor))

  app.post('/api/v1/my/second-factor/recovery-codes', {
    config: { ...ofPerson, irreversible: true, errors: ['conflict', 'rate_limited'] },
    schema: {
      operationId: 'renewMyRecoveryCodes',
      tags,
      summary: 'Replaces the recovery codes.',
      description: 'The password or a code proves who asks; a wrong one: 403.',
      body: ProofBody,
      response: { 200: RecoveryCodesView }
    }
  }, async (request, reply) => {
    const codes = await secondFactors.renewCodes({ actor: request.actor, author: auditAuthorOf(request) }, request.body)
    return reply.header('cache-control', 'no-store').send(codes)
  })

  app.post('/api/v1/my/second-factor/remove', {
    config: { ...ofPerson, irreversible: true, errors: ['conflict', 'rate_limited'] },
    schema: {
      operationId: 'removeMySecondFactor',
      tags,
      summary: 'Removes the user\'s second factor.',
      description: 'The password or a code proves who asks; a wrong one: 403. All tokens and other sessions end.',
      body: ProofBody,
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    await secondFactors.remove({ actor: request.actor, author: auditAuthorOf(request) }, request.body)
    return reply.code(204).send(null)
  })

  app.delete<{ Params: { id: string } }>('/api/v1/users/:id/second-factor', {
    config: { freshProof: true, roles: ['admin', 'operator'], errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'resetSecondFactor',
      tags,
      summary: 'Removes the second factor of a user who has lost it (admins): their password alone signs them in again.',
      description: 'All sessions and tokens of the user end.',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { actor, params: { id } } = request
    const userId = integerIn(id)
    const reset = userId !== undefined && await secondFactors.reset({ actor, author: auditAuthorOf(request) }, userId)
    if (!reset) throw resourceNotFound('user', id)
    return reply.code(204).send(null)
  })
  done()
}
