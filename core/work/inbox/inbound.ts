import type { JsonObject } from '@dispatch/common'
import type { Keyring } from '../../access/keyring.ts'
import { servingIn } from '../../configuration/serving.ts'
import { redactorsOf } from '../../configuration/vault.ts'
import { type DeliveryMark, type DeliveryStatus, isDeliveryMark } from '../../contract/delivery.ts'
import type { Log } from '../../host/call/log.ts'
import { nothingToHide, type Redactor } from '../../host/call/redact.ts'
import type { Host } from '../../host/host.ts'
import type { InstalledProvider } from '../../host/load/load.ts'
import { readEvent, statusOf } from '../../host/webhook/read.ts'
import { type EventReading, isConfirmed, type WebhookManifest } from '../../host/webhook/webhook.ts'
import type { Configurations, Owner } from '../../store/configuration/configurations.ts'
import type { Database } from '../../store/db/database.ts'
import { applyInbound, matchSteps, type OnStatusChange, type TrackedStep } from '../../store/vendor/deliveries.ts'
import { admitParked, closeInbound, findOpenInbound, findWebhookAccount, forgetParked, holdInbound,
  type InboundRow } from '../../store/vendor/inbound.ts'
import type { Queue } from '../queue/queue.ts'
import type { StatusQuery } from '../status/status-query.ts'
import { enqueueInbound } from './inbox.ts'
import { unpark } from './webhook-receiver.ts'
import type { WebhookVerifier } from './webhook-verifier.ts'

/** The result of a try to handle an event: done, or why it must be tried again. `until`: not before then. */
type Progress = { done: true } | { done: false, why: string, until?: Date }

type Options = {
  database: Database
  configurations: Configurations
  host: Host
  queue: Queue
  webhookVerifier: WebhookVerifier
  keyring: Keyring
  statusQuery: StatusQuery
  onStatusChange: OnStatusChange
  log: Log
  now: () => Date
}

/** Milliseconds for which an event waits for what it needs: its dispatch, the vendor's keys, or the vendor's answer. */
const heldFor = 24 * 3600 * 1000
/** Seconds before the next try: as long as the event has waited so far, within these limits. */
const pauses = { shortest: 1, longest: 3600 }

const done: Progress = { done: true }

/** Handles one recorded event, unless it was handled before. */
export function createInboundHandler (options: Options): (job: { inboundId: string }) => Promise<void> {
  const { database, queue, log, now } = options
  return async ({ inboundId }) => {
    const event = await findOpenInbound(database, inboundId)
    if (event === undefined) return
    const progress = await handle(options, event)
    if (progress.done) return
    const waited = (await database.time()).getTime() - event.received_at.getTime()
    if (waited >= heldFor) return giveUp(options, event, progress.why)
    const pause = Math.max(waited, (progress.until?.getTime() ?? 0) - now().getTime()) / 1000
    await holdInbound(database, inboundId, progress.why,
      enqueueInbound(queue, Math.ceil(Math.min(Math.max(pause, pauses.shortest), pauses.longest))))
    log.debug({ inboundId, provider: event.provider_code, why: progress.why }, 'an event is held')
  }
}

async function giveUp ({ database, log }: Options, event: InboundRow, why: string): Promise<void> {
  const { inbound_id: inboundId, service, provider_code: provider, parked } = event
  log.warn({ inboundId, service, provider, why }, 'an event was dropped')
  if (parked === null) await closeInbound(database, inboundId, { state: 'dropped', note: why })
  else await forgetParked(database, inboundId)
}

async function handle (options: Options, event: InboundRow): Promise<Progress> {
  const { service, provider_code: code } = event
  const provider = await readerOf(options, options.host.find(code), event.account)
  const webhook = provider?.manifest.webhooks?.[service]
  if (provider === undefined || webhook === undefined) {
    return { done: false, why: `The provider "${code}" is not installed, or has no webhook for "${service}".` }
  }
  if (event.parked === null) return apply(options, event, provider, webhook)
  const admitted = await admit(options, event, provider, event.parked)
  if (!('scope' in admitted)) return admitted
  const { scope, sandbox } = admitted
  return apply(options, { ...event, parked: null, company_id: scope?.companyId ?? null, user_id: scope?.userId ?? null, sandbox }, provider,
    webhook)
}

/** The version of a provider that reads the events of a configuration: the one that serves it. */
async function readerOf (
  { database, keyring }: Pick<Options, 'database' | 'keyring'>,
  provider: InstalledProvider | undefined,
  account: string | null
): Promise<InstalledProvider | undefined> {
  if (provider?.before === undefined || account === null) return provider
  const found = await findWebhookAccount(database, account)
  return found === undefined ? provider : servingIn(keyring, found.companyId, provider, found).provider
}

/** Verifies an event that could not be verified when it came. */
async function admit (
  { database, webhookVerifier, keyring, log }: Options,
  event: InboundRow,
  provider: InstalledProvider,
  parked: NonNullable<InboundRow['parked']>
) {
  const { inbound_id: inboundId, service, account, body, received_at: receivedAt } = event
  const verification = await webhookVerifier.verifyWithFreshKeys(unpark(keyring, { provider, service, account, parked, body, receivedAt }))
  if (verification.outcome === 'waits') {
    return { done: false as const, why: 'The keys of the vendor could not be read yet.', until: verification.until }
  }
  if (verification.outcome === 'verified') return await admitParked(database, event, verification) ? verification : done
  log.warn({ service, provider: provider.code, reason: verification.reason }, 'webhook refused')
  await forgetParked(database, inboundId)
  return done
}

/**
 * Applies a verified event to the dispatches that it is about. At the address that companies share, nobody knows whose it is before it has
 * been read: all that counts of that reading is the vendor's id, and the company's own process, if it has one, reads the event again.
 */
async function apply (options: Options, event: InboundRow, provider: InstalledProvider, webhook: WebhookManifest): Promise<Progress> {
  const { database, log } = options
  const { inbound_id: inboundId, service, provider_code: providerCode } = event
  const scope = event.company_id === null ? null : { companyId: event.company_id, userId: event.user_id }
  const read = await readEvent(provider, service, event.body, {
    ...(event.account !== null && { account: event.account }),
    ...(scope !== null && { redactor: await redactorFor(options, providerCode, scope) })
  })
  if (!read.ok && read.again === true) return { done: false, why: read.reason }
  if (!read.ok) {
    log.warn({ inboundId, service, provider: providerCode, reason: read.reason }, 'an event cannot be read')
    await closeInbound(database, inboundId, { state: 'kept', note: read.reason })
    return done
  }
  const { remoteId } = read.reading
  const steps = await matchSteps(database, { service, providerCode, remoteId, scope, sandbox: event.sandbox })
  const [first] = steps
  if (first === undefined) return { done: false, why: 'No dispatch has the vendor\'s id yet.' }
  if (steps.some(({ companyId }) => companyId !== first.companyId)) {
    await closeInbound(database, inboundId, { state: 'kept', note: 'Dispatches of several companies have the vendor\'s id.' })
    return done
  }
  const own = event.account === null
    ? await readEvent(provider, service, event.body, {
      account: `company ${first.companyId}`,
      redactor: await redactorFor(options, providerCode, { ...first, userId: first.configuredBy === 'user' ? first.userId : null })
    })
    : read
  if (!own.ok && own.again === true) return { done: false, why: own.reason }
  if (!own.ok || own.reading.remoteId !== remoteId) {
    await closeInbound(database, inboundId, { state: 'kept', note: 'The provider does not read the event the same way twice.' })
    return done
  }
  const { type, eventId, remoteId: _, ...facts } = own.reading
  const told = await tell(options, { provider, webhook, step: first, type })
  if (!told.ok) return { done: false, why: told.why }
  const delivery = {
    kind: 'webhook' as const,
    status: told.status,
    ...(told.mark === undefined ? {} : { mark: told.mark }),
    facts: { ...facts, type, ...(eventId === undefined ? {} : { eventId }), ...told.facts },
    actor: { kind: 'provider' as const, code: providerCode }
  }
  await applyInbound(database, { inboundId, steps, delivery, moved: options.onStatusChange, ...(eventId === undefined ? {} : { eventId }) })
  return done
}

/** What hides the secrets of the configuration that an event is about. */
async function redactorFor (
  { configurations, keyring }: Pick<Options, 'configurations' | 'keyring'>,
  code: string,
  { companyId, userId }: Owner
): Promise<() => Redactor> {
  const { configurations: all } = await configurations.latest(companyId)
  const used = all.find((stored) => stored.providerCode === code && stored.userId === userId)
  return () => used === undefined ? nothingToHide() : redactorsOf(keyring, companyId)(used)
}

type Told = { ok: true, status: DeliveryStatus | null, mark?: DeliveryMark, facts: JsonObject } | { ok: false, why: string }

/** The status that an event means: as it says itself, or as the vendor answers to a status query where the provider asks for one. */
async function tell (
  { statusQuery }: Options,
  { provider, webhook, step, type }: {
    provider: InstalledProvider
    webhook: WebhookManifest
    step: TrackedStep
    type: EventReading['type']
  }
): Promise<Told> {
  if (!isConfirmed(webhook, type)) {
    const meaning = statusOf(webhook.events, type)
    return meaning !== null && isDeliveryMark(step.service, meaning)
      ? { ok: true, status: null, mark: meaning, facts: {} }
      : { ok: true, status: meaning, facts: {} }
  }
  const answer = await statusQuery(provider, step)
  if (!answer.ok) return { ok: false, why: `The vendor did not confirm it: ${answer.why}` }
  const { reported: { status: confirmed, reason }, status } = answer
  return { ok: true, status, facts: { confirmed, ...(typeof reason === 'string' && { reason }) } }
}
