import type { Log } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { IncomingHttpHeaders } from 'node:http'
import { Type } from 'typebox'
import type { Inbox } from '../service/inbox.ts'
import type { WebhookAnswer, WebhookReceiver } from '../service/webhook-receiver.ts'
import { drainInbox } from '../service/work.ts'

const mebibyte = 1024 * 1024
const bytes = 'application/octet-stream'
const path = '/api/webhooks/:service/providers/:provider/endpoint.json'

type Given = { webhookReceiver: WebhookReceiver, config: { runsWorker: boolean }, inbox: Inbox, log: Log }

type Address = { Params: { service: string, provider: string }, Querystring: Record<string, unknown> }

/**
 * Vendors send their events here. Every request over HTTPS gets 200 within a second, also a refused one: so an anonymous client learns
 * nothing, and a vendor does not repeat an event that will never be accepted. A vendor that tries whether a wrong signature is noticed gets
 * 401, where its provider declares that. Plain HTTP is refused here too.
 */
export const webhookRoutes: FastifyPluginCallbackTypebox<Given> = (app, { webhookReceiver, config: { runsWorker }, inbox, log }, done) => {
  // Its own disk has nobody else: those that run jobs drain theirs with them.
  if (!runsWorker) drainWhileListening(app, { inbox, log })
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

  const config = { public: true, quiet: true, withoutAdmissionControl: true, errors: [] } as const
  const response = { 200: Type.Unknown({ description: '{}, or what the provider declares as its acknowledgement.' }) }

  async function receive ({ method, params, query, headers, body, raw: { url = '' } }: FastifyRequest<Address>, reply: FastifyReply) {
    const [, requested = ''] = /\?(.*)$/s.exec(url) ?? []
    const content = body instanceof Uint8Array ? body : new Uint8Array()
    const delivery = { method, query: requested, headers: singleHeaders(headers), body: content }
    return acknowledge(reply, await webhookReceiver.receive({ ...params, account: accountIn(query['account']), delivery }))
  }

  app.post<Address>(path, {
    bodyLimit: mebibyte,
    config,
    schema: {
      operationId: 'receiveWebhook',
      tags: ['Webhooks'],
      summary: 'Receives an event of a vendor. The answer is always 200, also for a refused event.',
      response
    }
  }, receive)

  // A vendor tries the address, or sends its events in the query. No client of the API does.
  app.get<Address>(path, { config, schema: { operationId: 'tryWebhook', hide: true, response } }, receive)
  done()
}

function drainWhileListening (app: FastifyInstance, given: { inbox: Inbox, log: Log }): void {
  let draining: AsyncDisposable | undefined
  app.addHook('onListen', (next) => {
    draining ??= drainInbox(given)
    next()
  })
  app.addHook('onClose', async () => {
    await draining?.[Symbol.asyncDispose]()
  })
}

/** Given twice, it names no configuration. */
function accountIn (account: unknown): string | null {
  if (account === undefined) return null
  return typeof account === 'string' ? account : ''
}

function singleHeaders (headers: IncomingHttpHeaders): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]))
}

/** What the vendor expects: JSON, or plain text. What it has sent itself is never taken for a page. */
function acknowledge (reply: FastifyReply, { status, headers, body }: WebhookAnswer): FastifyReply {
  reply.code(status).headers({ ...headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  return typeof body === 'string'
    ? reply.type('text/plain; charset=utf-8').send(body)
    : reply.type('application/json; charset=utf-8').send(body)
}
