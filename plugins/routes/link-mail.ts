import type { LinkMail } from '@dispatch/accounts'
import { DispatchError, LinkMailBody, LinkMailView, Nothing } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'

const path = '/api/v1/link-mail'
const tags = ['Users']

/** Who mails one-time links: an e-mail provider of an operator's company. */
export const linkMailRoutes: FastifyPluginCallbackTypebox<{ linkMail: LinkMail }> = (app, { linkMail }, done) => {
  app.get(path, {
    config: { scopes: ['audit'], roles: ['admin', 'operator'], errors: [] },
    schema: {
      operationId: 'readLinkMail',
      tags,
      summary: 'Tells whether the service mails one-time links (admins), and by which provider (operators).',
      response: { 200: LinkMailView }
    }
  }, ({ actor }) => linkMail.read(actor))

  app.put(path, {
    config: { freshProof: true, roles: ['operator'], errors: ['expectation_failed', 'validation_failed', 'configuration_missing'] },
    schema: {
      operationId: 'updateLinkMail',
      tags,
      summary: 'Has one-time links mailed by an e-mail provider of the operator\'s own company (operators).',
      description: 'Each mail is a dispatch of that operator. It is checked whether one would be accepted; none is sent.',
      body: LinkMailBody,
      response: { 200: LinkMailView }
    }
  }, (request) => linkMail.change({ actor: request.actor, author: auditAuthorOf(request) }, request.body))

  app.delete(path, {
    config: { freshProof: true, roles: ['operator'], errors: ['not_found'] },
    schema: {
      operationId: 'deleteLinkMail',
      tags,
      summary: 'Has no links mailed any more: they are shown once (operators).',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    if (!await linkMail.remove({ actor: request.actor, author: auditAuthorOf(request) })) {
      throw new DispatchError('not_found', 'The service mails no links.')
    }
    return reply.code(204).send(null)
  })
  done()
}
