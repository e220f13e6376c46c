import { type DeliveryService, deliveryServices } from '@dispatch/contract'
import { createKeySources, isConfigured, ownKeyOf, proves, type Verifier, verifiersOf, verifyWebhook,
  type WebhookManifest } from '@dispatch/host'
import type { EventFixture } from '../fixtures/fixture.ts'
import type { Named } from '../fixtures/fixtures.ts'
import { type Case, judged } from '../report.ts'
import { now } from '../run/clock.ts'
import { inTurn } from '../run/in-turn.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { bytesOf } from './hook.ts'

/** An event with the headers that the vendor gave it. */
type SignedEvent = EventFixture & { headers: Record<string, string> }

/**
 * Delivers each event that the vendor itself has signed to the verifiers of the manifest. An event that the kit signs by the manifest would
 * pass even where the manifest names another header, encoding or secret than the vendor uses.
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
  const { settings, headers, body, keys, receivedAt, url = '' } = fixture
  const at = receivedAt === undefined ? now() : new Date(receivedAt)
  const sources = createKeySources({
    fetchJson: () => Promise.reject(new Error('The fixture has the keys.')),
    now: () => at,
    onError: () => undefined
  })
  const verifiers = verifiersOf(webhook).map((verify) => keys === undefined ? verify : withKeys(verify, keys))
  const [address = '', query = ''] = url.split('?')
  const method = webhook.form === 'query' ? 'GET' : 'POST'
  const lowerCase = Object.fromEntries(Object.entries(headers).map(([header, value]) => [header.toLowerCase(), value]))
  const { verdict } = await verifyWebhook(verifiers, { headers: lowerCase, body: bytesOf(body, webhook), method, address, query }, {
    settings: () => settings,
    keys: sources,
    reading: webhook
  }, at)
  const named = Object.keys(headers).join(', ')
  return judged('signed', name, verdict === 'verified' ? [] : [
    `The manifest does not verify what the vendor has signed (${verdict}), with ${named}: compare "verify" with it, its header, prefix, ` +
    'encoding, secret and timestamp.'
  ])
}

/** The verifier with the keys of the fixture in place of the vendor's published ones. */
function withKeys (verify: Verifier, keys: NonNullable<EventFixture['keys']>): Verifier {
  if (verify.kind === 'jws') return { ...verify, jwks: keys }
  const published = (verify.kind === 'signature' || verify.kind === 'token') && ('url' in verify.key || 'certificate' in verify.key)
  return published ? { ...verify, key: { fixed: keys } } as Verifier : verify
}

/** Each verifier with a signature needs an event that the vendor has signed for it. Secrets in plain text are the same everywhere. */
function shownCases (service: DeliveryService, webhook: WebhookManifest, signed: readonly Named<SignedEvent>[]): Case[] {
  return verifiersOf(webhook).flatMap((verify, index) => {
    if (!proves(verify).shown) return []
    const shown = signed.some(({ fixture }) => isFor(verify, fixture))
    return [
      judged('signed', `the webhook of "${service}" (verifier ${index}, ${verify.kind})`,
        shown ? [] : ['No event shows the vendor\'s own signature: write fixtures/webhook.signed.json with "headers" and "source".'])
    ]
  })
}

function isFor (verify: Verifier, { settings, keys }: EventFixture): boolean {
  if (ownKeyOf(verify) !== undefined) return isConfigured(verify, settings)
  return keys !== undefined || ('key' in verify && 'fixed' in verify.key)
}
