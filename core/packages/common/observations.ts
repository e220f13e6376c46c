import { type Channel, channel } from 'node:diagnostics_channel'

/**
 * What happens inside of a process, for whoever measures it. Nothing here names a company, a dispatch or a person, so that all of it may
 * become the labels of a metric. Times are in seconds.
 */
export type Observations = {
  /** A request to the service was answered. `route`: its pattern, such as `/api/v1/dispatches/:id`. */
  request: { method: string, route: string, status: number, seconds: number }
  /** A provider's call that dispatches something has ended. */
  attempt: { service: string, provider: string, outcome: string, seconds: number }
  /** The outcome of a step was recorded. `provider`: `none` where the service needs none. */
  step: { service: string, provider: string, outcome: string }
  /** A dispatch has ended, or waits for a person or for the end of a doubt. `service`: the first of its chain. */
  dispatch: { service: string, status: string }
  /** One request of a provider to its vendor. `status`: the status of the answer, or `none`. */
  vendorRequest: { provider: string, method: string, status: string, seconds: number }
  /** A document or a text was made of a template, or could not be. */
  rendering: { format: string, outcome: 'made' | 'failed', seconds: number }
  /** A callback was sent to its receiver. */
  callback: { outcome: string, seconds: number }
  /** An event of a vendor came in. `verdict`: `kept`, or why it was refused. */
  webhook: { service: string, provider: string, verdict: string }
  /** The database has answered a message. `operation`: the first word of its first statement, such as `select`. */
  databaseRequest: { operation: string, failed: boolean, seconds: number }
  /** Runs of this process have lost their leases. */
  leasesLost: { runs: number }
  /** A process of an adapter ended by itself. */
  adapterCrash: { provider: string }
}

type Name = keyof Observations

const channels = new Map<Name, Channel>()

function channelOf (name: Name): Channel {
  let found = channels.get(name)
  if (found === undefined) channels.set(name, found = channel(`document-dispatch:${name}`))
  return found
}

/** Tells what has happened to whoever listens. Costs next to nothing where nobody does. */
export function observe<Observed extends Name> (name: Observed, observation: Observations[Observed]): void {
  channelOf(name).publish(observation)
}

/** Whether anybody listens: for what costs something to find out. */
export function isObserved (name: Name): boolean {
  return channelOf(name).hasSubscribers
}

/** Listens until the returned function is called. */
export function onObservation<Observed extends Name> (name: Observed, listener: (observation: Observations[Observed]) => void): () => void {
  const reported = (observation: unknown): void => {
    listener(observation as Observations[Observed])
  }
  channelOf(name).subscribe(reported)
  return () => {
    channelOf(name).unsubscribe(reported)
  }
}

/** The seconds since a moment of `performance.now()`. */
export function secondsSince (begun: number): number {
  return (performance.now() - begun) / 1000
}
