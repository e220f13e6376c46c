import { isDeliveryService } from '@dispatch/contract'
import { limitInWords, type Manifest, statusesOf, verifiersOf } from '@dispatch/host'
import type { ProvidedName } from '@dispatch/services'

/** What a provider does for one service, as far as clients are shown it. */
export type Support = NonNullable<ReturnType<typeof supportOf>>

/** What a provider's manifest says of a service; undefined when it does not offer it. */
export function supportOf (manifest: Manifest, name: ProvidedName) {
  const { services, webhooks } = manifest
  const service = services[name]
  if (service === undefined) return undefined
  const { capabilities, limits = [], idempotency, timeLimit, verbs } = service
  const webhook = isDeliveryService(name) ? webhooks?.[name] : undefined
  return {
    capabilities,
    limits: limits.map((limit) => ({ ...limit, words: limitInWords(limit) })),
    idempotency,
    ...(timeLimit === undefined ? {} : { timeLimit }),
    verbs,
    ...(webhook === undefined ? {} : { webhook: [...new Set(verifiersOf(webhook).map(({ kind }) => kind))] }),
    ...(isDeliveryService(name) ? { statuses: statusesOf(manifest, name) } : {})
  }
}
