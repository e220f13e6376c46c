import { otherServices } from '@dispatch/plugins/console'

/** The line of a template's source that lists the other services that it is made for, with the lines of a list below it. */
const listing = /^alsoFor:.*(?:\n|$)(?:[ ]*- .*(?:\n|$))*/m
const servicing = /^service:.*(?:\n|$)/m

/** Those that the source of a template lists, in our order. */
export function listedIn (source: string): string[] {
  const [written = ''] = listing.exec(source) ?? []
  const names: readonly string[] = written.replaceAll(/#.*/g, '').match(/[a-z]+/g) ?? []
  return otherServices.filter((name) => names.includes(name))
}

/** The source with this list in the place of its own, or below the service. Nothing else of it changes. */
export function withListed (source: string, services: readonly string[]): string {
  const line = services.length === 0 ? '' : `alsoFor: [${services.join(', ')}]\n`
  if (listing.test(source)) return source.replace(listing, () => line)
  return servicing.test(source)
    ? source.replace(servicing, (service) => `${service.endsWith('\n') ? service : `${service}\n`}${line}`)
    : line + source
}
