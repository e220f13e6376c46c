import { type ServiceName, services } from '@dispatch/services'

/** In credits, by service; a service without an entry has its default price. */
export type Prices = Readonly<Record<string, number>>

/** What a step costs, in credits: nothing where nothing real comes of it. */
export function priceOf (service: ServiceName, { prices, sandbox = false }: { prices: Prices, sandbox?: boolean }): number {
  return sandbox ? 0 : prices[service] ?? services[service].price
}

/**
 * What a new step holds at once, in credits: its price. One that waits for an event holds it when that has come, and one that is sent later
 * when it is sent, unless it is asked to hold it now.
 */
export function heldAtFirst (
  { price, deferredOn }: { price: number, deferredOn?: string | undefined },
  schedule: { dueAt?: string | undefined, hold?: string | undefined } | undefined
): number {
  const isHeldLater = schedule?.dueAt !== undefined && schedule.hold !== 'now'
  return deferredOn !== undefined || isHeldLater ? 0 : price
}
