import { DispatchError } from '@dispatch/contract'
import { AsyncLocalStorage } from 'node:async_hooks'

/** The client for whom something is done in this asynchronous context, for the queues in which it waits. */
export type WaitingClient = {
  /** Whose turn it is: the company by its id, or an address that nobody has signed in from. */
  owner: () => number | string
  /** Aborted once the client has gone, with {@link ClientGone}. */
  gone: () => AbortSignal
  /** Called before it waits: what it holds meanwhile is for others. */
  waits: () => void
}

/** The client has gone before its turn. Nobody reads this error. */
export class ClientGone extends DispatchError {
  override name = 'ClientGone'

  constructor () {
    super('rate_limited', 'The client has gone before its turn: nothing was done.')
  }
}

const clients = new AsyncLocalStorage<WaitingClient>()

/** Does something for a client. */
export function onBehalfOf<Result> (client: WaitingClient, work: () => Result): Result {
  return clients.run(client, work)
}

/** The client for whom this is done; undefined for what the service does by itself. */
export function waitingClient (): WaitingClient | undefined {
  return clients.getStore()
}
