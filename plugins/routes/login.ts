import type { Authentication } from '@dispatch/accounts'
import { Login, LoginResponse } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'

/** Logging in and refreshing: `POST /auth`, `GET /auth/refresh`. Answers must not be cached (RFC 6749, 5.1). */
export const authRoutes: FastifyPluginCallbackTypebox<{ authentication: Authentication }> = (app, { authentication }, done) => {
  app.post('/auth', {
    config: { public: true, limit: 'auth', errors: ['forbidden', 'rate_limited'] },
    schema: {
      operationId: 'login',
      tags: ['Authentication'],
      summary: 'Log in',
      description: 'Exchanges e-mail address and password for an access token. Wrong credentials, a disabled account, or no code of the ' +
        'second factor for a user who has one: 403.',
      body: Login,
      response: { 200: LoginResponse }
    }
  }, async ({ body, ip }, reply) => {
    const data = await authentication.login(body.username, body.password, ip, body.totp)
    return reply.header('cache-control', 'no-store').send({ data })
  })

  app.get('/auth/refresh', {
    // The handler reads the header itself, because it also accepts an expired token.
    config: { public: true, limit: 'auth', errors: ['unauthorized', 'forbidden', 'rate_limited'] },
    schema: {
      operationId: 'refreshToken',
      tags: ['Authentication'],
      summary: 'Refresh an access token',
      description: 'Takes a token that is valid or expired less than 24 hours ago, up to 30 days after the login.',
      response: { 200: LoginResponse }
    }
  }, async ({ headers, ip }, reply) => {
    const data = await authentication.refresh(headers.authorization, ip)
    return reply.header('cache-control', 'no-store').send({ data })
  })

  done()
}
