import { canTransition, chains, isDeliveryService } from '@dispatch/contract'
import { demo } from '@dispatch/core'
import { type ConsolePart, type ServiceName, serviceNames, services, templateServices } from '@dispatch/services'

export { mailService, serviceNames, templateServices } from '@dispatch/services'

/** What each service says of itself for the console. */
export const consoleParts: Readonly<Record<string, ConsolePart>> = Object.fromEntries(
  serviceNames.map((name) => [name, services[name].console])
)

/** The provider that only plays the vendors: what it does is not real. */
export const simulator: string = demo.provider

/** Those of which recipients read a text: their templates are no documents. */
export const messageServices: readonly string[] = serviceNames.filter((name) => services[name].message !== undefined)

/** Whether some vendors take back what they have accepted, and it has not gone too far. `delivery`: null where nothing is known of it. */
export function canBeTakenBack (service: string, delivery: string | null): boolean {
  if (!isDeliveryService(service) || services[service].revocable !== true) return false
  return delivery === null || canTransition(service, delivery, 'cancelled')
}

/** What follows from the rest of the data of a service's templates. */
export function computedOf (service: string): ConsolePart['computed'] {
  return consoleParts[service]?.computed
}

/** The services that may come next in the path of a request. */
export function nextIn (path: readonly string[]): readonly string[] {
  return chains.filter((chain) => chain.length === path.length + 1 && path.every((name, index) => chain[index] === name))
    .flatMap((chain) => chain.at(-1) ?? [])
}

/** Those to which a document can be given that is there already, in place of a template. */
export const givenServices: readonly string[] = templateServices.filter((name) => services[name].template?.orGiven === true)

/** Those that a template may be made for besides its own. */
export const otherServices: readonly ServiceName[] = templateServices.filter((name) => services[name].template?.channel !== 'any')

/** Those whose request always names a template. */
export const templatedServices: readonly string[] = templateServices.filter((name) => services[name].template?.unless === undefined)
