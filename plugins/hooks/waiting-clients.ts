import { clientKeyOf, onBehalfOf, waitingClient } from '@dispatch/accounts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import plugin from 'fastify-plugin'
import { releasePermit } from './admission-control.ts'
import { knownActor } from './authentication.ts'
import { goneSignal } from './gone-signal.ts'
import { isOwn } from './own-request.ts'

/** Tells the queues in which a request waits whose it is, and when its client has gone: what nobody waits for is not done. */
export const waitingClientsPlugin = plugin((app, _options, done) => {
  app.addHook('onRequest', (request, reply, next) => {
    waitAs(request, reply, next)
  })
  // Again, because the events of its body come in another asynchronous context.
  app.addHook('preValidation', (request, reply, next) => {
    waitAs(request, reply, next)
  })
  done()
}, { name: 'waiting-clients', fastify: '5.x' })

function waitAs (request: FastifyRequest, reply: FastifyReply, next: () => void): void {
  // What the console asks for is over when its own reader has gone.
  const outer = isOwn(request.raw) ? waitingClient() : undefined
  onBehalfOf({
    owner: () => knownActor(request)?.companyId ?? clientKeyOf(request.ip),
    gone: outer?.gone ?? (() => goneSignal(reply)),
    waits: () => {
      releasePermit(request)
      outer?.waits()
    }
  }, next)
}
