import { Nothing, page, ProofBody } from '@dispatch/contract'
import { auditAuthorOf, resourceNotFound, uuidIn } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { NewPasskeyBody, NewPasskeyView, PasskeyNameBody, PasskeyOptions, PasskeyView } from '../contract/passkeys.ts'
import type { Passkeys } from '../service/passkeys.ts'

type Named = { Params: { id: string } }

const tags = ['Second factor']

/** The passkeys of the user. */
export const passkeysRoutes: FastifyPluginCallbackTypebox<{ passkeys: Passkeys }> = (app, { passkeys }, done) => {
  app.get('/api/v1/my/passkeys', {
    config: { errors: [] },
    schema: {
      operationId: 'listMyPasskeys',
      tags,
      summary: 'Lists the user\'s passkeys, the oldest first.',
      response: { 200: page(PasskeyView) }
    }
  }, async ({ actor }) => ({ data: await passkeys.list(actor), nextCursor: null }))

  app.post('/api/v1/my/passkeys/options', {
    config: { errors: ['conflict'] },
    schema: {
      operationId: 'beginMyPasskey',
      tags,
      summary: 'Answers what `navigator.credentials.create()` takes to make a passkey, as JSON. It counts for five minutes, once.',
      response: { 200: PasskeyOptions }
    }
  }, async ({ actor }, reply) => reply.header('cache-control', 'no-store').send(await passkeys.begin(actor)))

  app.post('/api/v1/my/passkeys', {
    config: { errors: ['conflict'] },
    schema: {
      operationId: 'addMyPasskey',
      tags,
      summary: 'Adds the passkey that a browser has made.',
      description: 'From now on the password alone does not sign the user in. All tokens and other sessions end.',
      body: NewPasskeyBody,
      response: { 201: NewPasskeyView }
    }
  }, async (request, reply) => {
    const added = await passkeys.register({ actor: request.actor, author: auditAuthorOf(request) }, request.body)
    return reply.code(201).header('cache-control', 'no-store').send(added)
  })

  app.put<Named & { Body: PasskeyNameBody }>('/api/v1/my/passkeys/:id', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'renameMyPasskey',
      tags,
      summary: 'Gives a passkey another name.',
      body: PasskeyNameBody,
      response: { 200: PasskeyView }
    }
  }, async (request) => {
    const { actor, params: { id }, body: { name } } = request
    const renamed = await passkeys.rename({ actor, author: auditAuthorOf(request) }, uuidIn(id, 'passkey'), name)
    if (renamed === undefined) throw resourceNotFound('passkey', id)
    return renamed
  })

  app.post<Named & { Body: ProofBody }>('/api/v1/my/passkeys/:id/remove', {
    config: { errors: ['not_found', 'rate_limited'] },
    schema: {
      operationId: 'removeMyPasskey',
      tags,
      summary: 'Removes a passkey.',
      description: 'The password or a code proves who asks; a wrong one: 403. All tokens and other sessions end.',
      body: ProofBody,
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { actor, params: { id }, body } = request
    const removed = await passkeys.remove({ actor, author: auditAuthorOf(request) }, uuidIn(id, 'passkey'), body)
    if (!removed) throw resourceNotFound('passkey', id)
    return reply.code(204).send(null)
  })
  done()
}
