import type { DeliveryService } from '@dispatch/contract'

/** The address of a webhook as vendors know it; that of a configuration by its opaque name. `publicUrl` is how it begins. */
export function webhookUrl (
  publicUrl: string,
  { code, service, account }: { code: string, service: DeliveryService, account?: string }
): string {
  const address = `${publicUrl}/api/webhooks/${service}/providers/${code}/endpoint.json`
  return account === undefined ? address : `${address}?account=${account}`
}
