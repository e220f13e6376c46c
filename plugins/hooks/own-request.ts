import type { Actor } from '@dispatch/accounts'
import type { FastifyInstance, FastifyRequest, InjectOptions, LightMyRequestResponse } from 'fastify'
import { AsyncLocalStorage } from 'node:async_hooks'
import { Socket } from 'node:net'

/**
 * Whom the console has authenticated; null for anybody. `gone` is aborted when nobody reads an answer any more that is a stream.
 * `unconfirmed`: the page that asks, where its reader was not asked whether they mean it.
 */
type Asking = { actor: Actor | null, gone?: AbortSignal | undefined, unconfirmed?: string | undefined }

const asking = new AsyncLocalStorage<Asking>()

/**
 * Sends a request to the service itself, inside the process: through all hooks, to the route. Who asks is in the asynchronous context of
 * this call, not in the request: nothing that a client sends can take its place.
 */
export function askOwn (
  app: FastifyInstance,
  who: Asking,
  request: InjectOptions
): Promise<LightMyRequestResponse> {
  return asking.run(who, async () => await app.inject(request))
}

type Raw = Pick<FastifyRequest['raw'], 'socket'>

/**
 * Whether the service has sent the request to itself: nothing that comes over a connection can be such a request. What a route injects
 * while it answers one would be, too: it goes through `askOwn`, which says for whom.
 */
export function isOwn (raw: Raw): boolean {
  return contextOf(raw) !== undefined
}

/** The user for whom the service has sent the request to itself; undefined for every other request. */
export function ownActor (raw: Raw): Actor | undefined {
  return contextOf(raw)?.actor ?? undefined
}

/** Aborted when nobody reads the answer of such a request any more. */
export function ownSignal (raw: Raw): AbortSignal | undefined {
  return contextOf(raw)?.gone
}

/** The page that has sent such a request without asking its reader whether they mean it. */
export function unconfirmedPage (raw: Raw): string | undefined {
  return contextOf(raw)?.unconfirmed
}

function contextOf ({ socket }: Raw): Asking | undefined {
  return socket instanceof Socket ? undefined : asking.getStore()
}
