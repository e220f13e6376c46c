import type { Actor } from '@dispatch/core'
import type { FastifyInstance, FastifyRequest, InjectOptions, LightMyRequestResponse } from 'fastify'
import { AsyncLocalStorage } from 'node:async_hooks'
import { Socket } from 'node:net'

const acting = new AsyncLocalStorage<Actor>()

/**
 * Sends a request to the service itself, inside the process, for a user whom the console has authenticated. Their identity is in the
 * asynchronous context of this call, not in the request: nothing that a client sends can take its place.
 */
export function injectAs (app: FastifyInstance, actor: Actor, request: InjectOptions): Promise<LightMyRequestResponse> {
  return acting.run(actor, async () => await app.inject(request))
}

/** The user for whom the service has sent the request to itself; undefined for every request that came over a connection. */
export function injectedFor ({ socket }: Pick<FastifyRequest['raw'], 'socket'>): Actor | undefined {
  return socket instanceof Socket ? undefined : acting.getStore()
}
