import type { JsonObject } from '@dispatch/common'
import type { DeliveryService } from '@dispatch/contract'
import { demo } from '@dispatch/core'
import { createVendorSigningKey as createVendorKey, type EndpointAuth, type EndpointKeys, type Manifest, signDelivery,
  type VendorSigningKey as VendorKey, verifiersOf } from '@dispatch/host'
import { randomBytes, randomUUID } from 'node:crypto'

type Webhook = Pick<NonNullable<NonNullable<Manifest['webhooks']>[DeliveryService]>, 'verify'>

/**
 * The simulator in the role of a vendor, which signs its events. In development each process creates a new key and password, which are not
 * stored anywhere, so nobody can forge an event. In production there are none, and no event of the simulator is accepted.
 */
export type SimulatedVendor = {
  /** The credentials and keys of vendors' webhooks, with those of the simulator. */
  endpoints: { endpointAuth: EndpointAuth, endpointKeys: EndpointKeys }
  /** The headers of an event. `settings` are those of the receiving configuration. */
  sign: (webhook: Webhook, event: Buffer, settings: JsonObject) => Promise<Readonly<Record<string, string | undefined>>>
}

/** `endpointAuth` are the credentials of the server's configuration: where the simulator has some, it uses these. */
export function createSimulatedVendor ({ endpointAuth, now }: { endpointAuth: EndpointAuth, now: () => Date }): SimulatedVendor {
  const { SIMULATOR: endpoint = `${demo.provider}:${randomBytes(24).toString('base64url')}` } = endpointAuth
  // Created on first use: it takes 0.1 s and is seldom needed.
  let key: VendorKey | undefined
  return {
    endpoints: {
      endpointAuth: { ...endpointAuth, SIMULATOR: endpoint },
      endpointKeys: (code) => code === demo.provider ? key?.jwks : undefined
    },
    async sign (webhook, event, settings) {
      key ??= createVendorKey(randomUUID())
      return (await signDelivery(verifiersOf(webhook), event, { key, settings, endpoint }, now())).headers
    }
  }
}
