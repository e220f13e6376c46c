import { DispatchError, type WebhookReceiver } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'

const mebibyte = 1024 * 1024
const bytes = 'application/octet-stream'

type Address = { Params: { service: string, provider: string }, Querystring: Record<string, unknown> }

/**
 * Vendors post their events here. Every post over HTTPS gets 200 within a second, also a refused one: so an anonymous client learns
 * nothing, and a vendor does not repeat an event that will never be accepted. Plain HTTP is refused here too.
 */
export const webhookRoutes: FastifyPluginCallbackTypebox<{ webhookReceiver: WebhookReceiver }> = (app, { webhookReceiver }, done) => {
  app.removeAllContentTypeParsers()
  // The signature covers the raw bytes, so any content type is accepted, even an invalid one.
  app.addHook('onRequest', (request, _reply, next) => {
    request.headers['content-type'] = bytes
    next()
  })
  app.addContentTypeParser(bytes, { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))

  app.setErrorHandler<Error & { code?: string }>(async (error, request, reply) => {
    if (error instanceof DispatchError && error.word === 'https_required') throw error
    request.log.info({ code: error.code }, 'webhook not read')
    const { service = '', provider = '' } = request.params as Partial<Address['Params']>
    return acknowledge(reply, await webhookReceiver.receive({ service, provider, account: null, delivery: undefined }))
  })

  app.post<Address>('/api/webhooks/:service/providers/:provider/endpoint.json', {
    bodyLimit: mebibyte,
    config: { public: true, quiet: true, withoutAdmissionControl: true, errors: [] },
    schema: {
      operationId: 'receiveWebhook',
      tags: ['Webhooks'],
      summary: 'Receives an event of a vendor. The answer is always 200, also for a refused event.',
      response: { 200: Type.Unknown({ description: '{}, or what the provider declares as its acknowledgement.' }) }
    }
  }, async ({ params, query, headers, body }, reply) => {
    const delivery = { headers: singleHeaders(headers), body: body instanceof Uint8Array ? body : new Uint8Array() }
    return acknowledge(reply, await webhookReceiver.receive({ ...params, account: accountIn(query['account']), delivery }))
  })
  done()
}

/** Given twice, it names no configuration. */
function accountIn (account: unknown): string | null {
  if (account === undefined) return null
  return typeof account === 'string' ? account : ''
}

function singleHeaders (headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]))
}

/** The acknowledgement that the vendor expects: JSON, or plain text. */
function acknowledge (reply: FastifyReply, answer: Awaited<ReturnType<WebhookReceiver['receive']>>): FastifyReply {
  reply.code(200).header('cache-control', 'no-store')
  return typeof answer === 'string'
    ? reply.type('text/plain; charset=utf-8').send(answer)
    : reply.type('application/json; charset=utf-8').send(answer)
}
