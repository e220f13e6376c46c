import { createKeySources, type DeliveryService, deliveryServices, isConfigured, type Verifier, verifiersOf, verifyWebhook,
  type WebhookManifest } from '@dispatch/core/host'
import type { EventFixture } from '../fixtures/fixture.ts'
import type { Named } from '../fixtures/fixtures.ts'
import { type Case, judged } from '../report.ts'
import { now } from '../run/clock.ts'
import { bytesOf } from './hook.ts'
import { inTurn } from './replay.ts'
import type { ProviderUnderTest } from './subject.ts'

/** An event with the headers that the vendor gave it. */
type SignedEvent = EventFixture & { headers: Record<string, string> }

/**
 * Delivers each event that the vendor itself has signed to the verifiers of the manifest. What the kit signs by the manifest agrees with a
 * manifest that names another header, encoding or secret than the vendor.
 */
export async function signedCases ({ installed: { manifest }, fixtures }: ProviderUnderTest): Promise<Case[]> {
  const cases = await inTurn(deliveryServices, async (service) => {
    const webhook = manifest.webhooks?.[service]
    const events = fixtures.events.filter(({ fixture }) => fixture.service === service)
    if (webhook === undefined || events.length === 0) return []
    const signed = events.filter((one): one is Named<SignedEvent> => one.fixture.headers !== undefined)
    return [...await inTurn(signed, (one) => signedCase(webhook, one)), ...shownCases(service, webhook, signed)]
  })
  return cases.flat()
}

async function signedCase (webhook: WebhookManifest, { name, fixture }: Named<SignedEvent>): Promise<Case> {
  const { settings, headers, body, keys, receivedAt } = fixture
  const at = receivedAt === undefined ? now() : new Date(receivedAt)
  const sources = createKeySources({
    fetchJson: () => Promise.reject(new Error('The fixture has the keys.')),
    now: () => at,
    onError: () => undefined
  })
  const verifiers = verifiersOf(webhook).map((verify) => verify.kind === 'jws' && keys !== undefined ? { ...verify, jwks: keys } : verify)
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]))
  const { verdict } = await verifyWebhook(verifiers, { headers: lowerCase, body: bytesOf(body) }, {
    settings: () => settings,
    keys: sources
  }, at)
  const named = Object.keys(headers).join(', ')
  return judged('signed', name, verdict === 'verified' ? [] : [
    `The manifest does not verify what the vendor has signed (${verdict}), with ${named}: compare "verify" with it, its header, prefix, ` +
    'encoding, secret and timestamp.'
  ])
}

/** Each verifier with a signature needs an event that the vendor has signed for it. Basic credentials are the same everywhere. */
function shownCases (service: DeliveryService, webhook: WebhookManifest, signed: readonly Named<SignedEvent>[]): Case[] {
  return verifiersOf(webhook).flatMap((verify, index) => {
    if (verify.kind === 'basic') return []
    const shown = signed.some(({ fixture }) => isFor(verify, fixture))
    return [
      judged('signed', `the webhook of "${service}" (verifier ${index}, ${verify.kind})`,
        shown ? [] : ['No event shows the vendor\'s own signature: write fixtures/webhook.signed.json with "headers" and "source".'])
    ]
  })
}

function isFor (verify: Verifier, { settings, keys }: EventFixture): boolean {
  return verify.kind === 'jws' ? keys !== undefined : isConfigured(verify, settings)
}
