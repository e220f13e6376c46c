import { isUuid, type JsonObject } from '@dispatch/common'
import type { Envelope, Keyring } from '../../access/keyring.ts'
import { type DeliveryService, isDeliveryService } from '../../contract/delivery.ts'
import { observe } from '../../contract/observations.ts'
import { within } from '../../contract/spans.ts'
import type { Log } from '../../host/call/log.ts'
import type { Host } from '../../host/host.ts'
import type { InstalledProvider } from '../../host/load/load.ts'
import { signatureHeaders } from '../../host/webhook/signature-headers.ts'
import type { WebhookRequest } from '../../host/webhook/signature.ts'
import { verifiersOf, type WebhookManifest } from '../../host/webhook/webhook.ts'
import type { InboundEvent } from '../../store/vendor/inbound.ts'
import type { Inbox } from './inbox.ts'
import type { IncomingWebhook, Verification, WebhookVerifier } from './webhook-verifier.ts'

/** An unchecked request to the URL of a webhook. `delivery`: undefined when it could not be read. */
export type PostedWebhook = { service: string, provider: string, account: string | null, delivery: WebhookRequest | undefined }

export type WebhookReceiver = {
  /** Verifies an event and keeps it. Resolves within a second, in every case, to the answer that the vendor expects. */
  receive: (posted: PostedWebhook) => Promise<string | JsonObject>
}

const nothing: JsonObject = {}

type Options = {
  host: Host
  webhookVerifier: WebhookVerifier
  inbox: Inbox
  keyring: Keyring
  log: Log
  now: () => Date
  newId: () => string
}

/** Every event of a vendor comes in here. */
export function createWebhookReceiver ({ host, webhookVerifier, inbox, keyring, log, now, newId }: Options): WebhookReceiver {
  /** How many events were refused since the process began, by `service provider reason`. */
  const refused = new Map<string, number>()

  function refuse ({ service, provider }: PostedWebhook, reason: string): void {
    // Strangers choose these words. Only known ones get a counter, so that the map stays small.
    const names = { service: isDeliveryService(service) ? service : 'unknown', provider: host.find(provider)?.code ?? 'unknown', reason }
    const key = Object.values(names).join(' ')
    const times = (refused.get(key) ?? 0) + 1
    refused.set(key, times)
    observe('webhook', { service: names.service, provider: names.provider, verdict: reason })
    log.warn({ ...names, times }, 'webhook refused')
  }

  async function verify (incoming: IncomingWebhook): Promise<Verification> {
    try {
      return await webhookVerifier.verify(incoming)
    } catch (error) {
      log.warn({ err: error, provider: incoming.provider.code }, 'an event could not be verified yet')
      return { outcome: 'waits', until: incoming.receivedAt }
    }
  }

  async function keep (posted: PostedWebhook, incoming: IncomingWebhook, webhook: WebhookManifest): Promise<void> {
    const verification = await verify(incoming)
    if (verification.outcome === 'refused') {
      refuse(posted, verification.reason)
      return
    }
    const parked = verification.outcome === 'waits' ? seal(keyring, webhook, incoming.delivery) : null
    const taken = await inbox.put(arrivalOf(incoming, newId(), parked, verification))
    if (taken) observe('webhook', { service: incoming.service, provider: incoming.provider.code, verdict: 'kept' })
    else refuse(posted, 'too_many_waiting')
  }

  async function receive (posted: PostedWebhook): Promise<string | JsonObject> {
    const { service, delivery } = posted
    const provider = host.find(posted.provider)
    const webhook = isDeliveryService(service) ? provider?.manifest.webhooks?.[service] : undefined
    if (provider === undefined || webhook === undefined || !isDeliveryService(service)) refuse(posted, 'unknown_address')
    else if (delivery === undefined) refuse(posted, 'unreadable')
    else {
      await keep(posted, { provider, service, account: posted.account, delivery, receivedAt: now() }, webhook)
        .catch((error: unknown) =>
          log.error({ err: error, service, provider: provider.code }, 'an event could be kept neither in the database nor on the disk')
        )
    }
    return webhook?.acknowledge ?? nothing
  }

  return {
    receive: (posted) => within('webhook', {}, () => receive(posted))
  }
}

function arrivalOf (
  { service, provider, account, delivery, receivedAt }: IncomingWebhook,
  inboundId: string,
  parked: Envelope | null,
  verification: Verification
): InboundEvent {
  const { scope, sandbox } = verification.outcome === 'verified' ? verification : { scope: null, sandbox: null }
  return {
    inboundId,
    service,
    providerCode: provider.code,
    account: account !== null && isUuid(account) ? account : null,
    scope,
    sandbox,
    parked,
    body: delivery.body,
    receivedAt
  }
}

const context = 'webhook headers'

/** Encrypts the headers by which an event is verified later: a Basic header is a secret. */
function seal (keyring: Keyring, webhook: WebhookManifest, delivery: WebhookRequest): Envelope {
  return keyring.seal(JSON.stringify(signatureHeaders(verifiersOf(webhook), delivery)), context)
}

/** The parked event as it came in. */
export function unpark (
  keyring: Keyring,
  { provider, service, account, parked, body, receivedAt }: {
    provider: InstalledProvider
    service: DeliveryService
    account: string | null
    parked: Envelope
    body: Uint8Array
    receivedAt: Date
  }
): IncomingWebhook {
  const headers = JSON.parse(keyring.open(parked, context).toString()) as Record<string, string>
  return { provider, service, account, delivery: { headers, body }, receivedAt }
}
