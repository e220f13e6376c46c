import { all, type DeliveryOf, type DeliveryRules, type ServiceName, serviceNames } from '@dispatch/services'
import { isSince, type Version } from './versions.ts'

/** The services whose providers report delivery statuses, and whose vendors may send events. */
export type DeliveryService = { [Name in ServiceName]: DeliveryOf<Name> extends never ? never : Name }[ServiceName]
export type DeliveryStatus<Service extends DeliveryService = DeliveryService> = {
  [Name in Service]: DeliveryOf<Name> extends { transitions: infer Moves } ? keyof Moves & string : never
}[Service]

export type DeliveryMark<Service extends DeliveryService = DeliveryService> = {
  [Name in Service]: DeliveryOf<Name> extends { marks: readonly (infer Mark)[] } ? Mark : never
}[Service]

/** Those that follow in a chain, and then those that only begin one: the order of every list of statuses. */
export const deliveryServices: readonly DeliveryService[] = [true, false].flatMap((follows) =>
  serviceNames.filter(isDeliveryService).filter((name) => ('consumes' in all[name].chain) === follows)
)

export function isDeliveryService (name: string): name is DeliveryService {
  return Object.hasOwn(all, name) && 'delivery' in all[name as ServiceName]
}

const rulesOf = (service: DeliveryService): DeliveryRules => all[service].delivery

/** The marks of a service: what vendors tell of an accepted step besides its status. They change no status. */
export function deliveryMarksOf<Service extends DeliveryService> (service: Service): readonly DeliveryMark<Service>[] {
  return (rulesOf(service).marks ?? []) as readonly DeliveryMark<Service>[]
}

export function isDeliveryMark (service: DeliveryService, word: string): word is DeliveryMark {
  return deliveryMarksOf(service).some((mark) => mark === word)
}

type With<Rule> = { [Name in DeliveryService]: DeliveryOf<Name> extends Rule ? Name : never }[DeliveryService]

/** Whether answers in a version of the API have the delivery status of the service. */
export function reportsDelivery (service: DeliveryService, version: Version): boolean {
  return isSince(rulesOf(service).since, version)
}

/** The services until whose events steps can be deferred. Companies are called back about them in every version of the API. */
export type DeferringService = With<{ defers: true }>
export const deferringServices: readonly DeferringService[] = deliveryServices.filter(isDeferringService)

export function isDeferringService (name: string): name is DeferringService {
  return isDeliveryService(name) && rulesOf(name).defers === true
}

/** The services of which one step has several recipients, and whose providers tell of each. */
export type RecipientsService = With<{ recipients: true }>
export const recipientsServices: readonly RecipientsService[] = deliveryServices.filter(hasRecipients)

export function hasRecipients (name: string): name is RecipientsService {
  return isDeliveryService(name) && rulesOf(name).recipients === true
}

/** The service and the status in the name of an event such as `esign.completed`. */
export function parseDeliveryEvent (event: string): { service: DeferringService, status: string } {
  const [service = '', status = ''] = event.split('.')
  if (!isDeferringService(service)) throw new TypeError(`"${event}" is no event of a service.`)
  return { service, status }
}

/** The services whose vendors make a document of the one that they got, such as a signed one. */
export const returningServices: readonly DeliveryService[] = deliveryServices.filter((name) => rulesOf(name).document !== undefined)

/** Whether the event says that the vendor has a document of its own from now on: that everybody has signed. */
export function hasOwnDocument (event: string): boolean {
  const { service, status } = parseDeliveryEvent(event)
  return rulesOf(service).document?.from === status
}

/** An event of the service on which the document is still taken as it was sent. */
export function eventBeforeDocument (service: DeliveryService): string {
  return `${service}.${rulesOf(service).document?.before ?? ''}`
}

/** The delivery statuses of a service, in the order in which they usually come. */
export function deliveryStatusesOf<Service extends DeliveryService> (service: Service): readonly DeliveryStatus<Service>[] {
  return Object.keys(rulesOf(service).transitions) as DeliveryStatus<Service>[]
}

/** Every delivery status of all services. */
export const deliveryStatuses = [...new Set(deliveryServices.flatMap((service) => deliveryStatusesOf(service)))]

/** Every mark of all services. */
export const deliveryMarks = [...new Set(deliveryServices.flatMap((service) => deliveryMarksOf(service)))]

/** Whether a step of the service may change from one status (null: none yet) to another. */
export function canTransition (service: DeliveryService, from: string | null, to: string): boolean {
  const { transitions } = rulesOf(service)
  if (!Object.hasOwn(transitions, to)) return false
  return from === null || transitions[from]?.includes(to) === true
}

/** The statuses from which a step may change to another one (null: no status yet). */
export function originsOf (service: DeliveryService, to: DeliveryStatus | null): DeliveryStatus[] {
  return to === null ? [] : deliveryStatusesOf(service).filter((from) => canTransition(service, from, to))
}

/** Whether a status is not polled any more: nothing follows it, or only in exceptional cases. */
export function isFinalDeliveryStatus (service: DeliveryService, status: string | null): boolean {
  if (status === null) return false
  const { nearlyLast = [], transitions } = rulesOf(service)
  return nearlyLast.includes(status) || transitions[status]?.length === 0
}

/** The statuses that cannot follow any more once a step has a status. */
export function unexpectedAfter (service: DeliveryService, status: DeliveryStatus): DeliveryStatus[] {
  return deliveryStatusesOf(service).filter((other) =>
    other !== status && (isFinalDeliveryStatus(service, status) || !canTransition(service, status, other))
  )
}

/** The sentence for a delivery status that is a refusal; undefined for any other status. */
export function refusalOf (service: DeliveryService, status: string): string | undefined {
  const { refusals } = rulesOf(service)
  return Object.hasOwn(refusals, status) ? refusals[status] : undefined
}
