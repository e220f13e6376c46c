/**
 * The delivery statuses of a step that its provider has accepted, and which status may follow which. The first status may be any. A status
 * that may not follow is recorded in the timeline and changes nothing. The order of the keys counts: a status stands after all that it may
 * follow.
 */
export const deliveryTransitions = {
  esign: {
    started: ['viewed', 'signed', 'completed', 'declined', 'expired', 'cancelled'],
    viewed: ['signed', 'completed', 'declined', 'expired', 'cancelled'],
    signed: ['completed', 'declined', 'expired', 'cancelled'],
    // A signer has declined. Some vendors still let them sign later.
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
    // A letter that was put into the letter box can still be returned.
    delivered: ['returned'],
    returned: [],
    // The vendor has refused the letter after its acceptance, or lost it.
    failed: [],
    cancelled: []
  },
  sms: {
    queued: ['sent', 'delivered', 'failed'],
    // The mobile network has the message. Whether the phone receives it is reported later, or never.
    sent: ['delivered', 'failed'],
    delivered: [],
    failed: []
  },
  email: {
    // A server that has taken an e-mail may still send it back, and one of several recipients may not get it.
    delivered: ['bounced'],
    bounced: [],
    // The vendor has not sent it after its acceptance.
    failed: []
  },
  invoicing: {
    // A platform has the file, and reports later whether it accepts it.
    received: ['open', 'accepted', 'rejected', 'paid', 'uncollectible', 'void'],
    // The customer has the document. An invoice is to be paid, a quote to be accepted.
    open: ['accepted', 'rejected', 'paid', 'uncollectible', 'void'],
    accepted: [],
    rejected: [],
    // Written off. Some of these invoices are still paid later.
    uncollectible: ['paid', 'void'],
    paid: [],
    void: []
  }
} as const satisfies Record<string, Record<string, readonly string[]>>

/** What vendors tell of an accepted step besides its status: by service. It changes no status. */
export const deliveryMarks = { email: ['opened', 'clicked', 'complained'] } as const satisfies Partial<
  Record<keyof typeof deliveryTransitions, readonly string[]>
>

/** The services whose providers report delivery statuses. */
export type DeliveryService = keyof typeof deliveryTransitions
export type DeliveryStatus<Service extends DeliveryService = DeliveryService> = {
  [Name in Service]: keyof typeof deliveryTransitions[Name]
}[Service]

export type DeliveryMark<Service extends DeliveryService = DeliveryService> = Service extends keyof typeof deliveryMarks
  ? typeof deliveryMarks[Service][number]
  : never

/** The marks of a service. */
export function deliveryMarksOf<Service extends DeliveryService> (service: Service): readonly DeliveryMark<Service>[] {
  return (Object.entries<readonly string[]>(deliveryMarks).find(([name]) => name === service)?.[1] ?? []) as readonly DeliveryMark<
    Service
  >[]
}

export function isDeliveryMark (service: DeliveryService, word: string): word is DeliveryMark {
  return deliveryMarksOf(service).some((mark) => mark === word)
}

export const deliveryServices = Object.keys(deliveryTransitions) as readonly DeliveryService[]

export function isDeliveryService (name: string): name is DeliveryService {
  return Object.hasOwn(deliveryTransitions, name)
}

/** The services whose vendors may send events. */
export const eventServices = ['esign', 'postal', 'sms', 'email', 'invoicing'] as const satisfies readonly DeliveryService[]
export type EventService = typeof eventServices[number]

export function isEventService (name: string): name is EventService {
  return eventServices.some((service) => service === name)
}

/** The services whose status can be polled. */
export type PolledService = Exclude<DeliveryService, 'email'>

export function isPolledService (name: string): name is PolledService {
  return isDeliveryService(name) && name !== 'email'
}

/** The services until whose events steps can be deferred. Companies are called back about them in every version of the API. */
export const deferringServices = ['esign', 'postal'] as const satisfies readonly EventService[]
export type DeferringService = typeof deferringServices[number]

export function isDeferringService (name: string): name is DeferringService {
  return deferringServices.some((service) => service === name)
}

/** The service and the status in the name of an event such as `esign.completed`. */
export function parseDeliveryEvent (event: string): { service: DeferringService, status: string } {
  const [service = '', status = ''] = event.split('.')
  if (!isDeferringService(service)) throw new TypeError(`"${event}" is no event of a service.`)
  return { service, status }
}

/** The event that everybody has signed. From then on the vendor has a signed document. */
export const signedEvent = 'esign.completed'

/** The delivery statuses of a service, in the order in which they usually come. */
export function deliveryStatusesOf<Service extends DeliveryService> (service: Service): readonly DeliveryStatus<Service>[] {
  return Object.keys(deliveryTransitions[service]) as DeliveryStatus<Service>[]
}

/** Every delivery status of all services. */
export const deliveryStatuses = [...new Set(deliveryServices.flatMap((service) => deliveryStatusesOf(service)))]

/** Whether a step of the service may change from one status (null: none yet) to another. */
export function canTransition (service: DeliveryService, from: string | null, to: string): boolean {
  const moves: Readonly<Record<string, readonly string[]>> = deliveryTransitions[service]
  if (!Object.hasOwn(moves, to)) return false
  return from === null || moves[from]?.includes(to) === true
}

/** The statuses from which a step may change to another one (null: no status yet). */
export function originsOf (service: DeliveryService, to: DeliveryStatus | null): DeliveryStatus[] {
  return to === null ? [] : deliveryStatusesOf(service).filter((from) => canTransition(service, from, to))
}

/** The statuses that are normally final: another status follows only in exceptional cases. */
const nearlyLast: readonly string[] = ['delivered', 'declined']

/** Whether a status is not polled any more: nothing follows it, or only in exceptional cases. */
export function isFinalDeliveryStatus (service: DeliveryService, status: string | null): boolean {
  if (status === null) return false
  const moves: Readonly<Record<string, readonly string[]>> = deliveryTransitions[service]
  return nearlyLast.includes(status) || moves[status]?.length === 0
}

/** The statuses that cannot follow any more once a step has a status. */
export function unexpectedAfter (service: DeliveryService, status: DeliveryStatus): DeliveryStatus[] {
  return deliveryStatusesOf(service).filter((other) =>
    other !== status && (isFinalDeliveryStatus(service, status) || !canTransition(service, status, other))
  )
}

const paid = 'The price stays charged, because a dispatch is paid when its vendor has accepted it.'

/** The sentence for a client when a vendor refuses a step after its acceptance. */
const refusals: { readonly [Service in DeliveryService]: Readonly<Partial<Record<DeliveryStatus<Service>, string>>> } = {
  esign: { declined: `A signer has declined to sign. ${paid}` },
  postal: {
    failed: `The vendor refused the letter after its acceptance, or could not deliver it. The recipient does not get it. ${paid} ` +
      'Correct the cause and send a new dispatch.'
  },
  sms: { failed: `The message did not reach the phone. ${paid}` },
  email: {
    bounced: `A mail server has sent the e-mail back. ${paid}`,
    failed: `The vendor has not sent the e-mail after its acceptance. ${paid}`
  },
  invoicing: { rejected: `It was refused after its acceptance. ${paid} Correct the cause and send a new dispatch.` }
}

/** The sentence for a delivery status that is a refusal; undefined for any other status. */
export function refusalOf (service: DeliveryService, status: string): string | undefined {
  return Object.entries<string>(refusals[service]).find(([refused]) => refused === status)?.[1]
}
