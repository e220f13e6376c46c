import { DispatchError } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'

/** How long the file is valid, in milliseconds: 90 days. RFC 9116 recommends less than a year. */
const validFor = 90 * 24 * 3600 * 1000

const SecurityText = { description: 'The security contact (RFC 9116).', content: { 'text/plain': { schema: { type: 'string' } } } }

/** `/.well-known/security.txt`: the contact for reports of vulnerabilities, if the operator has set one. */
export const securityRoutes: FastifyPluginCallbackTypebox<{ contact: string | undefined, publicUrl: string, now: () => Date }> = (
  app,
  { contact, publicUrl, now },
  done
) => {
  app.get('/.well-known/security.txt', {
    config: { public: true, errors: ['not_found'] },
    schema: {
      operationId: 'readSecurityText',
      tags: ['Health'],
      summary: 'Names the contact for reports of security weaknesses.',
      response: { 200: SecurityText }
    }
  }, async (_request, reply) => {
    if (contact === undefined) throw new DispatchError('not_found', 'The operator has set no security contact.')
    const lines = [
      `Contact: ${contact}`,
      `Expires: ${new Date(now().getTime() + validFor).toISOString()}`,
      'Preferred-Languages: en',
      `Canonical: ${publicUrl}/.well-known/security.txt`
    ]
    return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`)
  })
  done()
}
