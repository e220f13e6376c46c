import { type ConsolePart, type ServiceName, serviceNames, services, templateServices } from '@dispatch/core'

export { mailService, serviceNames, templateServices } from '@dispatch/core'

/** What each service says of itself for the console. */
export const consoleParts: Readonly<Record<string, ConsolePart>> = Object.fromEntries(
  serviceNames.map((name) => [name, services[name].console])
)

/** Those of which recipients read a text: their templates are no documents. */
export const messageServices: readonly string[] = serviceNames.filter((name) => services[name].message !== undefined)

/** Those that some vendors can take back. */
export const revocableServices: readonly string[] = serviceNames.filter((name) => services[name].revocable === true)

/** Those that a template may be made for besides its own. */
export const otherServices: readonly ServiceName[] = templateServices.filter((name) => services[name].template?.channel !== 'any')

/** Those whose request always names a template. */
export const templatedServices: readonly string[] = templateServices.filter((name) => services[name].template?.unless === undefined)

/** What the services are called, their fields and their statuses. */
export function serviceWords (language: keyof ConsolePart['words']): Readonly<Record<string, string>> {
  return Object.assign({}, ...Object.values(consoleParts).map(({ words }) => words[language])) as Record<string, string>
}
