import type { JsonObject } from '@dispatch/common'
import { createVendorKey, demo, type EndpointAuth, type EndpointKeys, type EventService, type Manifest, signDelivery, type VendorKey,
  verifiersOf } from '@dispatch/core'
import { randomBytes, randomUUID } from 'node:crypto'

type Webhook = Pick<NonNullable<NonNullable<Manifest['webhooks']>[EventService]>, 'verify'>

/**
 * The simulator where real vendors are: it signs its events. Each process in development makes the key and the password
 * anew, and they stand nowhere else: nobody can forge an event. In production there are none, and no event is believed.
 */
export type SimulatedVendor = {
  /** What the server knows vendors by, the simulator among them. */
  endpoints: { endpointAuth: EndpointAuth, endpointKeys: EndpointKeys }
  /** The headers that an event comes with; `settings` are those of the configuration that it is sent to. */
  sign: (webhook: Webhook, event: Buffer, settings: JsonObject) => Readonly<Record<string, string | undefined>>
}

/** `endpointAuth` are the credentials of the server's configuration: where the simulator has some, it uses these. */
export function createSimulatedVendor ({ endpointAuth, now }: { endpointAuth: EndpointAuth, now: () => Date }): SimulatedVendor {
  const { SIMULATOR: endpoint = `${demo.provider}:${randomBytes(24).toString('base64url')}` } = endpointAuth
  // To make one takes a tenth of a second: a start must not wait for what is seldom needed.
  let key: VendorKey | undefined
  return {
    endpoints: {
      endpointAuth: { ...endpointAuth, SIMULATOR: endpoint },
      endpointKeys: (code) => code === demo.provider ? key?.jwks : undefined
    },
    sign (webhook, event, settings) {
      key ??= createVendorKey(randomUUID())
      return signDelivery(verifiersOf(webhook), event, { key, settings, endpoint }, now()).headers
    }
  }
}
