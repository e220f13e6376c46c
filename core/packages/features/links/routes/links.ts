import { Nothing, page } from '@dispatch/contract'
import { auditAuthorOf, integerIn, pageOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import { ForgottenBody, ForgottenView, InvitationBody, InvitationQuery, InvitationView, InvitationWithLink, LinkBody, LinkQuery,
  LinkUseBody, LinkView, PasswordLinkView } from '../contract/links.ts'
import type { Links } from '../service/links.ts'

type Named = { Params: { id: string } }
type LinkQuery = Static<typeof LinkQuery>

/** What can keep a mail from being dispatched. */
const mailing = ['rate_limited', 'expectation_failed', 'validation_failed', 'configuration_missing', 'insufficient_credits',
  'budget_exceeded'] as const

type Needs = { links: Links }

/** Invitations of the company, by its admins. */
const invitationRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { links }, done) => {
  app.get<{ Querystring: Static<typeof InvitationQuery> }>('/api/v1/company/invitations', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listInvitations',
      tags: ['Users'],
      summary: 'Lists the invitations of the company that nobody has accepted, the newest first (admins).',
      description: 'A company has 200 at most. Without `limit` all are listed.',
      querystring: InvitationQuery,
      response: { 200: page(InvitationView) }
    }
  }, async ({ actor, query: { limit, cursor } }) => {
    const found = await links.list(actor, {
      ...limit === undefined ? {} : { limit: limit + 1 },
      ...cursor === undefined ? {} : { after: cursor }
    })
    return pageOf(found, limit ?? found.length, ({ id }) => id)
  })

  app.post('/api/v1/company/invitations', {
    config: { errors: ['conflict', ...mailing] },
    schema: {
      operationId: 'createInvitation',
      tags: ['Users'],
      summary: 'Invites a person, and shows the link once or mails it (admins).',
      description: 'Who has the link chooses a password and is a user. It is good for seven days and for one use.',
      querystring: LinkQuery,
      body: InvitationBody,
      response: { 201: InvitationWithLink }
    }
  }, async (request, reply) => {
    const invitation = await links.invite({ actor: request.actor, author: auditAuthorOf(request) }, request.body, request.query)
    return reply.code(201).header('cache-control', 'no-store').send(invitation)
  })

  app.post<Named & { Querystring: LinkQuery }>('/api/v1/company/invitations/:id/renew', {
    config: { errors: ['not_found', 'conflict', ...mailing] },
    schema: {
      operationId: 'renewInvitation',
      tags: ['Users'],
      summary: 'Gives an invitation another link, and shows it once or mails it; the one before is dead (admins).',
      querystring: LinkQuery,
      response: { 200: InvitationWithLink }
    }
  }, async (request, reply) => {
    const { actor, params: { id }, query } = request
    const invitation = await links.renew({ actor, author: auditAuthorOf(request) }, uuidIn(id, 'invitation'), query)
    if (invitation === undefined) throw resourceNotFound('invitation', id)
    return reply.header('cache-control', 'no-store').send(invitation)
  })

  app.delete<Named>('/api/v1/company/invitations/:id', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'withdrawInvitation',
      tags: ['Users'],
      summary: 'Withdraws an invitation: its link is dead (admins).',
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { actor, params: { id } } = request
    if (!await links.withdraw({ actor, author: auditAuthorOf(request) }, uuidIn(id, 'invitation'))) throw resourceNotFound('invitation', id)
    return reply.code(204).send(null)
  })
  done()
}

/** Links for another password: from an admin, or for who has forgotten theirs. */
const passwordRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { links }, done) => {
  app.post<Named & { Querystring: LinkQuery }>('/api/v1/users/:id/password-link', {
    config: { errors: ['not_found', 'conflict', ...mailing] },
    schema: {
      operationId: 'createPasswordLink',
      tags: ['Users'],
      summary: 'Makes a link with which a user of the company chooses another password, and shows it once or mails it (admins).',
      querystring: LinkQuery,
      description: 'It is good for 24 hours and for one use, which ends all sessions of the user. An earlier link of the user is dead.',
      response: { 201: PasswordLinkView }
    }
  }, async (request, reply) => {
    const { actor, params: { id }, query } = request
    const userId = integerIn(id)
    const link = userId === undefined ? undefined : await links.resetPassword({ actor, author: auditAuthorOf(request) }, userId, query)
    if (link === undefined) throw resourceNotFound('user', id)
    return reply.code(201).header('cache-control', 'no-store').send(link)
  })

  app.get('/auth/password-links', {
    config: { errors: [] },
    schema: {
      operationId: 'readPasswordLinks',
      tags: ['Authentication'],
      summary: 'Tells whether a link can be mailed to who has forgotten the password',
      response: { 200: ForgottenView }
    }
  }, async () => ({ offered: await links.offersForgotten() }))

  app.post('/auth/password-links', {
    config: { limit: 'auth', errors: ['forbidden', 'conflict', 'rate_limited'] },
    schema: {
      operationId: 'requestPasswordLink',
      tags: ['Authentication'],
      summary: 'Ask for a link to another password by e-mail',
      description: 'The answer is the same whether there is a user with the address or not. The link is good for an hour and one use; a ' +
        'user gets three an hour, an operator none. Who signs in by their company is told so instead.',
      body: ForgottenBody,
      response: { 202: Nothing }
    }
  }, async ({ body, ip, id }, reply) => {
    await links.forgotten(body, { address: ip, requestId: id })
    return reply.code(202).send(null)
  })
  done()
}

/** What the holder of a link does. */
const holderRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { links }, done) => {
  app.post('/auth/links/read', {
    config: { limit: 'auth', errors: ['not_found', 'forbidden', 'rate_limited'] },
    schema: {
      operationId: 'readLink',
      tags: ['Authentication'],
      summary: 'Tells what a one-time link is for',
      description: 'A link that never was, has been used or has expired: the same 404.',
      body: LinkBody,
      response: { 200: LinkView }
    }
  }, async ({ body: { token } }, reply) => reply.header('cache-control', 'no-store').send(await links.read(token)))

  app.post('/auth/links/use', {
    config: { limit: 'auth', errors: ['not_found', 'forbidden', 'validation_failed', 'rate_limited'] },
    schema: {
      operationId: 'useLink',
      tags: ['Authentication'],
      summary: 'Choose a password by a one-time link',
      description: 'Makes the invited user, or sets another password of a user and ends all their sessions. The link has ended then.',
      body: LinkUseBody,
      response: { 204: Nothing }
    }
  }, async ({ body, ip, id }, reply) => {
    await links.use(body, { address: ip, requestId: id })
    return reply.code(204).header('cache-control', 'no-store').send(null)
  })
  done()
}

/** Invitations, links for another password, and what the holder of such a link does. What holds a secret must not be cached. */
export const linksRoutes: FastifyPluginAsyncTypebox<Needs> = async (app, needs) => {
  await app.register(invitationRoutes, needs)
  await app.register(passwordRoutes, needs)
  await app.register(holderRoutes, needs)
}
