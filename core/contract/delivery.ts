/**
 * What becomes of a step after its provider accepted it, and which status may follow which; the first one may be any.
 * A status that may not follow is noted in the timeline and changes nothing.
 */
export const deliveryTransitions = {
  esign: {
    started: ['viewed', 'signed', 'completed', 'declined', 'expired', 'cancelled'],
    viewed: ['signed', 'completed', 'declined', 'expired', 'cancelled'],
    signed: ['completed', 'declined', 'expired', 'cancelled'],
    // A signer has refused. Some vendors let them sign all the same.
    declined: ['completed'],
    completed: [],
    expired: [],
    cancelled: []
  },
  postal: {
    accepted: ['printed', 'mailed', 'in_transit', 'delivered', 'returned', 'failed', 'cancelled'],
    printed: ['mailed', 'in_transit', 'delivered', 'returned', 'failed', 'cancelled'],
    mailed: ['in_transit', 'delivered', 'returned', 'failed'],
    in_transit: ['delivered', 'returned', 'failed'],
    // A letter that was put into the box can still come back.
    delivered: ['returned'],
    returned: [],
    // The vendor has refused it after all, or lost it: it does not come.
    failed: [],
    cancelled: []
  },
  sms: {
    queued: ['sent', 'delivered', 'failed'],
    // The network has it: whether the phone gets it is told later, or never.
    sent: ['delivered', 'failed'],
    delivered: [],
    failed: []
  },
  invoicing: {
    // A platform has the file, and says later whether it takes it.
    received: ['open', 'accepted', 'rejected', 'paid', 'uncollectible', 'void'],
    // The customer has it: an invoice is to be paid, a quote to be accepted.
    open: ['accepted', 'rejected', 'paid', 'uncollectible', 'void'],
    accepted: [],
    rejected: [],
    // Given up, and some are paid all the same.
    uncollectible: ['paid', 'void'],
    paid: [],
    void: []
  }
} as const satisfies Record<string, Record<string, readonly string[]>>

/** The services whose providers tell what became of a dispatch. */
export type DeliveryService = keyof typeof deliveryTransitions
export type DeliveryStatus<Service extends DeliveryService = DeliveryService> = {
  [Name in Service]: keyof typeof deliveryTransitions[Name]
}[Service]

export const deliveryServices = Object.keys(deliveryTransitions) as readonly DeliveryService[]

export function isDeliveryService (name: string): name is DeliveryService {
  return Object.hasOwn(deliveryTransitions, name)
}

/**
 * Those whose vendors send events: what becomes of them is called back, and steps can be deferred until it does. The others are asked after
 * alone.
 */
export const eventServices = ['esign', 'postal'] as const satisfies readonly DeliveryService[]
export type EventService = typeof eventServices[number]

export function isEventService (name: string): name is EventService {
  return eventServices.some((service) => service === name)
}

/** The service and the status that an event such as `esign.completed` is made of. */
export function parseDeliveryEvent (event: string): { service: EventService, status: string } {
  const [service = '', status = ''] = event.split('.')
  if (!isEventService(service)) throw new TypeError(`"${event}" is no event of a service.`)
  return { service, status }
}

/** The event that everybody has signed: from then on the vendor has a signed document. */
export const signedEvent = 'esign.completed'

/** The delivery statuses of a service, in the order in which they usually come. */
export function deliveryStatusesOf<Service extends DeliveryService> (service: Service): readonly DeliveryStatus<Service>[] {
  return Object.keys(deliveryTransitions[service]) as DeliveryStatus<Service>[]
}

/** Every delivery status, of whatever service. */
export const deliveryStatuses = [...new Set(deliveryServices.flatMap((service) => deliveryStatusesOf(service)))]

/** Whether a step of the service may come from one status (null: none yet) to another. */
export function canTransition (service: DeliveryService, from: string | null, to: string): boolean {
  const moves: Readonly<Record<string, readonly string[]>> = deliveryTransitions[service]
  if (!Object.hasOwn(moves, to)) return false
  return from === null || moves[from]?.includes(to) === true
}

/** The statuses from which a step may come to another (null: to nothing known). */
export function originsOf (service: DeliveryService, to: DeliveryStatus | null): DeliveryStatus[] {
  return to === null ? [] : deliveryStatusesOf(service).filter((from) => canTransition(service, from, to))
}

/** The statuses that others follow by way of exception alone. */
const nearlyLast: readonly string[] = ['delivered', 'declined']

/** Whether nothing more is asked after: nothing may follow, or only by way of exception. */
export function isFinalDeliveryStatus (service: DeliveryService, status: string | null): boolean {
  if (status === null) return false
  const moves: Readonly<Record<string, readonly string[]>> = deliveryTransitions[service]
  return nearlyLast.includes(status) || moves[status]?.length === 0
}

/** The statuses that are not to be expected once a step has come to one. */
export function unexpectedAfter (service: DeliveryService, status: DeliveryStatus): DeliveryStatus[] {
  return deliveryStatusesOf(service).filter((other) =>
    other !== status && (isFinalDeliveryStatus(service, status) || !canTransition(service, status, other))
  )
}

const paid = 'What it cost stays charged: a dispatch is paid once its vendor has accepted it.'

/** What a client is told where a step was refused after it had been accepted. */
const refusals: { readonly [Service in DeliveryService]: Readonly<Partial<Record<DeliveryStatus<Service>, string>>> } = {
  esign: { declined: `A signer has refused to sign. ${paid}` },
  postal: {
    failed: `The vendor has refused the letter after it had accepted it, or could not bring it: it does not reach its recipient. ${paid} ` +
      'Once the cause is put right, dispatch it anew.'
  },
  sms: { failed: `The message did not reach the phone. ${paid}` },
  invoicing: { rejected: `It was refused after it had been accepted. ${paid} Once the cause is put right, dispatch it anew.` }
}

/** The sentence that goes with a delivery status which is a refusal; undefined with any other. */
export function refusalOf (service: DeliveryService, status: string): string | undefined {
  return Object.entries<string>(refusals[service]).find(([refused]) => refused === status)?.[1]
}
