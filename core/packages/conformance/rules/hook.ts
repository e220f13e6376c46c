import type { DeliveryService, SignWith, Verifier, WebhookManifest } from '@dispatch/core/host'
import type { EventFixture } from '../fixtures/fixture.ts'
import type { ProviderUnderTest } from './subject.ts'

/** One webhook of the provider, with keys of the kit instead of the vendor's, and the events for it. */
export type Hook = {
  subject: ProviderUnderTest
  service: DeliveryService
  webhook: WebhookManifest
  verifiers: readonly Verifier[]
  events: { name: string, fixture: EventFixture, signed: SignWith, body: Buffer }[]
}

/** The bytes of an event: JSON is written without white space. */
export function bytesOf (body: EventFixture['body']): Buffer {
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
