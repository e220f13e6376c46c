import type { Actor } from '@dispatch/core'
import type { FastifyInstance, FastifyRequest, InjectOptions, LightMyRequestResponse } from 'fastify'
import { AsyncLocalStorage } from 'node:async_hooks'
import { Socket } from 'node:net'

const acting = new AsyncLocalStorage<{ actor: Actor, gone: AbortSignal | undefined }>()

/**
 * Sends a request to the service itself, inside the process, for a user whom the console has authenticated. Their identity is in the
 * asynchronous context of this call, not in the request: nothing that a client sends can take its place. `gone` is aborted when nobody
 * reads an answer any more that is a stream.
 */
export function injectAs (
  app: FastifyInstance,
  actor: Actor,
  request: InjectOptions,
  gone?: AbortSignal
): Promise<LightMyRequestResponse> {
  return acting.run({ actor, gone }, async () => await app.inject(request))
}

/** The user for whom the service has sent the request to itself; undefined for every request that came over a connection. */
export function injectedFor ({ socket }: Pick<FastifyRequest['raw'], 'socket'>): Actor | undefined {
  return socket instanceof Socket ? undefined : acting.getStore()?.actor
}

/** Aborted when nobody reads the answer of such a request any more. */
export function injectedSignal ({ socket }: Pick<FastifyRequest['raw'], 'socket'>): AbortSignal | undefined {
  return socket instanceof Socket ? undefined : acting.getStore()?.gone
}
