import type { JsonObject } from '@dispatch/common'
import { needsProvider, type ServiceName, services } from '@dispatch/services'

/** Placeholders for content that is not rendered yet. */
const unmade = { document: { id: '', filename: '', contentType: '', size: 0, sha256: '' }, signatures: [], attachments: [] }

/** What is made for a service, and left out of what is known before. */
const made = ['document', 'signatures', 'inline', 'attachments']

/**
 * What the provider of a service will be asked, as far as it is known before anything is made; undefined for a service without a provider.
 */
export function providerRequestOf (
  service: ServiceName,
  fields: JsonObject,
  { data, metadata }: { data: JsonObject, metadata: Readonly<Record<string, string>> },
  capabilities?: JsonObject
): JsonObject | undefined {
  if (!needsProvider(service)) return undefined
  const whole = services[service].request(fields, { ...unmade, data, metadata }, capabilities)
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !made.includes(name)))
}

/** Where a place of what a provider is asked stands in the client's request; `at` tells where the fields of the service do. */
export function clientPointerOf (service: ServiceName, place: string, at: (field: string) => string): string {
  const [, top = '', field = '', ...rest] = place.split('/')
  const below = (first: string): string => [first, ...rest].join('/')
  if (top === service && field !== '') return below(at(field))
  if (top === 'settings') return field === '' ? at(top) : below(`${at(top)}/${field}`)
  return top === 'data' ? `/template${place}` : place
}
