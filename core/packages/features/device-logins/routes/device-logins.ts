import { Nothing } from '@dispatch/contract'
import { auditAuthorOf } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { DeviceAuthorization, DeviceBody, DeviceCodeBody, DeviceGrantBody, DeviceLoginView, DeviceToken,
  DeviceTokenBody } from '../contract/device-logins.ts'
import type { DeviceLogins } from '../service/device-logins.ts'

const tags = ['Authentication']

/** How a device gets a key of a person (RFC 8628). What holds a secret must not be cached. */
export const deviceLoginsRoutes: FastifyPluginCallbackTypebox<{ deviceLogins: DeviceLogins }> = (app, { deviceLogins }, done) => {
  // Libraries of OAuth send forms (RFC 6749, appendix B).
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, parsed) => {
    parsed(null, Object.fromEntries(new URLSearchParams(String(body))))
  })

  app.post('/auth/device', {
    config: { limit: 'auth', errors: ['conflict', 'rate_limited'] },
    schema: {
      operationId: 'beginDeviceLogin',
      tags,
      summary: 'Begin a login of a device or a command, which shows a code (RFC 8628)',
      description: 'A person types the code at `verification_uri`, where they have signed in, and grants a key. JSON, or a form. The ' +
        'code counts for ten minutes. 409 where the service has no console.',
      body: DeviceBody,
      response: { 200: DeviceAuthorization }
    }
  }, async ({ body, ip }, reply) => reply.header('cache-control', 'no-store').send(await deviceLogins.begin(body, ip)))

  app.post('/auth/device/token', {
    config: { errors: ['authorization_pending', 'slow_down', 'access_denied', 'expired_token', 'conflict', 'rate_limited'] },
    schema: {
      operationId: 'takeDeviceKey',
      tags,
      summary: 'Ask for the key that a person grants to a device (RFC 8628)',
      description: 'Ask every `interval` seconds while the answer is `authorization_pending`. The key is answered once; 409 where the ' +
        'person has as many keys as a user may: once they have revoked one, ask again.',
      body: DeviceTokenBody,
      response: { 200: DeviceToken }
    }
  }, async ({ body: { device_code: code }, ip, id }, reply) => {
    const key = await deviceLogins.take(code, { address: ip, requestId: id })
    return reply.header('cache-control', 'no-store').send(key)
  })

  app.post('/api/v1/device-logins/read', {
    config: { errors: ['not_found', 'rate_limited'] },
    schema: {
      operationId: 'readDeviceLogin',
      tags,
      summary: 'Tells which device waits for a code, and what it asks for.',
      description: 'Ten codes that there are not, in ten minutes, and the next one is 429.',
      body: DeviceCodeBody,
      response: { 200: DeviceLoginView }
    }
  },
    async ({ actor, body, ip }, reply) => reply.header('cache-control', 'no-store').send(await deviceLogins.read(actor, body.userCode, ip)))

  app.post('/api/v1/device-logins/grant', {
    config: { errors: ['not_found', 'validation_failed', 'rate_limited'] },
    schema: {
      operationId: 'grantDeviceLogin',
      tags,
      summary: 'Grants the device that waits for a code a key of yours.',
      description: 'The key is made when the device asks for it, and is listed and revoked as every other one.',
      body: DeviceGrantBody,
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    await deviceLogins.grant({ actor: request.actor, author: auditAuthorOf(request) }, request.body)
    return reply.code(204).send(null)
  })

  app.post('/api/v1/device-logins/decline', {
    config: { errors: ['not_found', 'rate_limited'] },
    schema: {
      operationId: 'declineDeviceLogin',
      tags,
      summary: 'Declines the login of the device that waits for a code.',
      body: DeviceCodeBody,
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    await deviceLogins.decline({ actor: request.actor, author: auditAuthorOf(request) }, request.body.userCode)
    return reply.code(204).send(null)
  })
  done()
}
