import type { JsonObject } from '@dispatch/common'
import type { DeliveryService } from '@dispatch/contract'
import { type BodyReading, contentIn, type SignWith, type Verifier, type WebhookManifest } from '@dispatch/host'
import type { EventFixture } from '../fixtures/fixture.ts'
import type { ProviderUnderTest } from '../run/subject.ts'

/** One webhook of the provider, with keys of the kit instead of the vendor's, and the events for it. */
export type Hook = {
  subject: ProviderUnderTest
  service: DeliveryService
  webhook: WebhookManifest
  verifiers: readonly Verifier[]
  events: { name: string, fixture: EventFixture, signed: SignWith, body: Buffer }[]
}

/** The content of an event: a text to the byte; data as the vendor writes them, JSON without white space. */
export function bytesOf (body: EventFixture['body'], reading: BodyReading = {}): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : contentIn(reading, body as JsonObject)
}
