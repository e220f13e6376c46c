import { type Envelope, isUuid, type JsonObject, type Keyring, type Log, observe } from '@dispatch/common'
import { type DeliveryService, isDeliveryService, within } from '@dispatch/contract'
import { contentOf, type Echo, handshakeIn, type Host, type InstalledProvider, isHinted, keptRequest, readRequest, verifiersOf,
  type WebhookManifest, type WebhookRequest, webhookUrl } from '@dispatch/host'
import { token } from '@dispatch/plugins/feature'
import { hash } from 'node:crypto'
import type { InboundEvent } from '../store/inbound.ts'
import type { Inbox } from './inbox.ts'
import type { IncomingWebhook, Verification, WebhookVerifier } from './webhook-verifier.ts'

/** An unchecked request to the URL of a webhook. `delivery`: undefined when it could not be read. */
export type PostedWebhook = { service: string, provider: string, account: string | null, delivery: WebhookRequest | undefined }

/** The answer to a vendor: 200, but where it tries whether a wrong signature is noticed. */
export type WebhookAnswer = { status: 200 | 401, headers: Readonly<Record<string, string>>, body: string | JsonObject }

export type WebhookReceiver = {
  /** Verifies an event and keeps it. Resolves within a second, in every case, to the answer that the vendor expects. */
  receive: (posted: PostedWebhook) => Promise<WebhookAnswer>
}

export const webhookReceiver = token<WebhookReceiver>('webhookReceiver')

type Options = {
  host: Host
  webhookVerifier: WebhookVerifier
  inbox: Inbox
  keyring: Keyring
  /** The start of the URLs that vendors know. */
  publicUrl: string
  log: Log
  now: () => Date
  newId: () => string
}

/** Every event of a vendor comes in here. */
export function createWebhookReceiver ({ host, webhookVerifier, inbox, keyring, publicUrl, log, now, newId }: Options): WebhookReceiver {
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
    const content = await contentOf(webhook.form, verifiersOf(webhook), incoming.delivery)
    const parked = verification.outcome === 'waits' ? seal(keyring, webhook, incoming.delivery, content) : null
    const inboundId = newId()
    const digest = digestFor(webhook, verification, inboundId)
    const taken = await inbox.put({ ...arrivalOf(incoming, inboundId, parked, verification), ...digest, body: content })
    if (taken) count(incoming, 'kept')
    else refuse(posted, 'too_many_waiting')
  }

  function count ({ service, provider }: IncomingWebhook, verdict: string): void {
    observe('webhook', { service, provider: provider.code, verdict })
  }

  /** Whether a request is verified, of a vendor that tries that: it is no event. */
  async function prove (posted: PostedWebhook, incoming: IncomingWebhook): Promise<boolean> {
    const verification = await verify(incoming)
    if (verification.outcome === 'verified') count(incoming, 'handshake')
    else refuse(posted, verification.outcome === 'refused' ? verification.reason : 'unknown_key')
    return verification.outcome === 'verified'
  }

  async function take (posted: PostedWebhook, incoming: IncomingWebhook, webhook: WebhookManifest): Promise<WebhookAnswer> {
    const usual = answer(webhook.acknowledge ?? {})
    const { delivery } = incoming
    const shake = await handshakeIn(webhook.handshakes ?? [], readRequest(delivery, webhook))
    if (shake !== undefined && 'proof' in shake) return await prove(posted, incoming) ? usual : { ...usual, status: 401 }
    const echo = shake !== undefined && 'text' in shake ? shake : undefined
    if (echo !== undefined && !echo.event) {
      count(incoming, 'handshake')
      return echoing(echo, usual)
    }
    if (delivery.method === (webhook.form === 'query' ? 'GET' : 'POST')) await keep(posted, incoming, webhook)
    else if (delivery.method !== 'HEAD') refuse(posted, 'wrong_method')
    return echo === undefined ? usual : echoing(echo, usual)
  }

  async function receive (posted: PostedWebhook): Promise<WebhookAnswer> {
    const { service, delivery, account } = posted
    const provider = host.find(posted.provider)
    const webhook = isDeliveryService(service) ? provider?.manifest.webhooks?.[service] : undefined
    if (provider === undefined || webhook === undefined || !isDeliveryService(service)) refuse(posted, 'unknown_address')
    else if (delivery === undefined) refuse(posted, 'unreadable')
    else {
      const address = webhookUrl(publicUrl, { code: provider.code, service })
      const incoming = { provider, service, account, delivery: { method: 'POST', ...delivery, address }, receivedAt: now() }
      try {
        return await take(posted, incoming, webhook)
      } catch (error) {
        log.error({ err: error, service, provider: provider.code }, 'an event could be kept neither in the database nor on the disk')
      }
    }
    return answer(webhook?.acknowledge ?? {})
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

function answer (body: string | JsonObject): WebhookAnswer {
  return { status: 200, headers: {}, body }
}

/** The answer with a text of the request, in the form that the vendor expects. */
function echoing ({ text, as }: Echo, usual: WebhookAnswer): WebhookAnswer {
  if (as === 'text') return { ...usual, body: text }
  return 'member' in as
    ? { ...usual, body: { [as.member]: text } }
    : { ...usual, headers: { ...usual.headers, [as.header.toLowerCase()]: text } }
}

/**
 * What an event is known by when it comes again. Where the raw body is not what is proved, it is what is: of an altered body with an old
 * signature that is the same. A hint proves nothing, and each one counts.
 */
export function digestFor (webhook: WebhookManifest, verification: Verification, inboundId: string): { digest?: string } {
  if (isHinted(webhook)) return { digest: hash('sha256', inboundId) }
  return verification.outcome === 'verified' && verification.proof !== undefined ? { digest: hash('sha256', verification.proof) } : {}
}

const context = 'webhook headers'

/** Parts of a request beside its headers, under names that no header can have. */
const beside = ['method', 'address', 'query'] as const
const rawBody = ':body'

/** Encrypts that by which an event is verified later: a Basic header is a secret. */
function seal (keyring: Keyring, webhook: WebhookManifest, delivery: WebhookRequest, content: Uint8Array): Envelope {
  const { headers, ...kept } = keptRequest(verifiersOf(webhook), delivery)
  const parts = beside.flatMap((name) => kept[name] === undefined ? [] : [[`:${name}`, kept[name]]])
  const body = content === delivery.body ? [] : [[rawBody, Buffer.from(delivery.body).toString('base64')]]
  return keyring.seal(JSON.stringify({ ...headers, ...Object.fromEntries([...parts, ...body]) }), context)
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
  const { [rawBody]: raw, ...headers } = JSON.parse(keyring.open(parked, context).toString()) as Record<string, string>
  const kept = Object.fromEntries(beside.flatMap((name) => headers[`:${name}`] === undefined ? [] : [[name, headers[`:${name}`]]]))
  return {
    provider,
    service,
    account,
    delivery: { ...kept, headers, body: raw === undefined ? body : Buffer.from(raw, 'base64') },
    receivedAt
  }
}
