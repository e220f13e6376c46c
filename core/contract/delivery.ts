/**
 * What becomes of a step after its provider accepted it, and which status may follow which; the first one may be any.
 * A status that may not follow is noted in the timeline and changes nothing.
 */
export const deliveryMoves = {
  esign: {
    started: ['viewed', 'signed', 'completed', 'declined', 'expired', 'cancelled'],
    viewed: ['signed', 'completed', 'declined', 'expired', 'cancelled'],
    signed: ['completed', 'declined', 'expired', 'cancelled'],
    completed: [],
    declined: [],
    expired: [],
    cancelled: []
  },
  postal: {
    accepted: ['printed', 'mailed', 'in_transit', 'delivered', 'returned', 'cancelled'],
    printed: ['mailed', 'in_transit', 'delivered', 'returned', 'cancelled'],
    mailed: ['in_transit', 'delivered', 'returned'],
    in_transit: ['delivered', 'returned'],
    // A letter that was put into the box can still come back.
    delivered: ['returned'],
    returned: [],
    cancelled: []
  }
} as const satisfies Record<string, Record<string, readonly string[]>>

/** The services whose providers tell what became of a dispatch. */
export type DeliveryService = keyof typeof deliveryMoves
export type DeliveryStatus<Service extends DeliveryService = DeliveryService> = { [Name in Service]: keyof typeof deliveryMoves[Name] }[Service]

/** The services whose vendors tell it in words of their own alone, which are shown as they are. */
export const reportedServices = ['invoicing'] as const
export type ReportedService = typeof reportedServices[number]

/** The services whose accepted steps are asked after. */
export type FollowedService = DeliveryService | ReportedService

export const deliveryServices = Object.keys(deliveryMoves) as readonly DeliveryService[]

export function isDeliveryService (name: string): name is DeliveryService {
  return Object.hasOwn(deliveryMoves, name)
}

/** The delivery statuses of a service, in the order in which they usually come. */
export function deliveryStatusesOf (service: DeliveryService): readonly DeliveryStatus[] {
  return Object.keys(deliveryMoves[service]) as DeliveryStatus[]
}

/** Every delivery status, of whatever service. */
export const deliveryStatuses = [...new Set(deliveryServices.flatMap(deliveryStatusesOf))]

/** Whether a step of the service may come from one status (null: none yet) to another. */
export function mayMove (service: DeliveryService, from: string | null, to: string): boolean {
  const moves: Readonly<Record<string, readonly string[]>> = deliveryMoves[service]
  if (!Object.hasOwn(moves, to)) return false
  return from === null || moves[from]?.includes(to) === true
}

/** The statuses from which a step may come to another (null: to nothing known). */
export function originsOf (service: DeliveryService, to: DeliveryStatus | null): DeliveryStatus[] {
  return to === null ? [] : deliveryStatusesOf(service).filter((from) => mayMove(service, from, to))
}

/** Whether nothing more is asked after: nothing may follow, or only by way of exception. */
export function isSettled (service: DeliveryService, status: string | null): boolean {
  if (status === null) return false
  const moves: Readonly<Record<string, readonly string[]>> = deliveryMoves[service]
  return status === 'delivered' || moves[status]?.length === 0
}
