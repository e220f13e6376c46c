import { errorMessageOf, type JsonObject, type Keyring, type Log } from '@dispatch/common'
import { type DeliveryMark, type DeliveryStatus, isDeliveryMark } from '@dispatch/contract'
import { applyPoll, type Configurations, matchSteps, type OnReply, type OnStatusChange, type Owner, redactorsOf, servingIn,
  type StatusQuery, type TrackedStep, wasPolledSince } from '@dispatch/core'
import { type Database, DatabaseUnavailable } from '@dispatch/database'
import { declaredUrl, type EventReading, type Handshake, handshakeIn, type Host, type InstalledProvider, isConfirmed, isHinted,
  type ReadEvent, readEvent, readRequest, type Reply, statusOf, type WebhookManifest } from '@dispatch/host'
import type { Queue } from '@dispatch/queue'
import { type FetchJson, nothingToHide, type Redactor } from '@dispatch/vendor-io'
import { applyInbound, applyReply } from '../store/applied.ts'
import { admitParked, closeInbound, findOpenInbound, findWebhookAccount, forgetParked, holdInbound, type InboundRow,
  splitInbound } from '../store/inbound.ts'
import { enqueueInbound } from './inbox.ts'
import { digestFor, unpark } from './webhook-receiver.ts'
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
  onReply: OnReply
  /** Fetches what a vendor asks to be fetched. */
  fetchJson: FetchJson
  newId: () => string
  log: Log
  now: () => Date
}

/** Milliseconds for which an event waits for what it needs: its dispatch, the vendor's keys, or the vendor's answer. */
const heldFor = 24 * 3600 * 1000
/** Seconds before the next try: as long as the event has waited so far, within these limits. */
const pauses = { shortest: 1, longest: 3600 }

const done: Progress = { done: true }

/** Handles one recorded event, unless it was handled before. Rejects while the database is away: then the event does not count as tried. */
export function createInboundHandler (options: Options): (job: { inboundId: string }) => Promise<void> {
  const { database, queue, log, now } = options
  return async ({ inboundId }) => {
    const event = await findOpenInbound(database, inboundId)
    if (event === undefined) return
    const progress = await handle(options, event).catch((error: unknown) => failed(options, event, error))
    if (progress.done) return
    const waited = (await database.time()).getTime() - event.received_at.getTime()
    if (waited >= heldFor) return giveUp(options, event, progress.why)
    const pause = Math.max(waited, (progress.until?.getTime() ?? 0) - now().getTime()) / 1000
    await holdInbound(database, inboundId, progress.why,
      enqueueInbound(queue, Math.ceil(Math.min(Math.max(pause, pauses.shortest), pauses.longest))))
    log.debug({ inboundId, provider: event.provider_code, why: progress.why }, 'an event is held')
  }
}

/** An event that cannot be handled waits like one that lacks something: it is tried for as long, and then given up. */
function failed ({ log }: Options, { inbound_id: inboundId, service, provider_code: provider }: InboundRow, error: unknown): Progress {
  if (error instanceof DatabaseUnavailable) throw error
  log.warn({ err: error, inboundId, service, provider }, 'an event could not be handled; it is tried again')
  return { done: false, why: 'It could not be handled: the log of the service says why.' }
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
  if (verification.outcome === 'verified') {
    const { scope, sandbox } = verification
    const digest = provider.manifest.webhooks?.[service] === undefined
      ? {}
      : digestFor(provider.manifest.webhooks[service], verification, inboundId)
    return await admitParked(database, event, { scope, sandbox, ...digest }) ? verification : done
  }
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
  const shake = event.reading === null ? await askedBy(webhook, event.body) : undefined
  if (shake !== undefined) return visit(options, event, provider, { webhook, shake })
  const read = await readingOf(options, event, provider, scope)
  if (!read.ok && read.again === true) return { done: false, why: read.reason }
  if (!read.ok) {
    log.warn({ inboundId, service, provider: providerCode, reason: read.reason }, 'an event cannot be read')
    await closeInbound(database, inboundId, { state: 'kept', note: read.reason })
    return done
  }
  if (read.others !== undefined) return split(options, event, [read.reading, ...read.others])
  const { remoteId } = read.reading
  const reply = replyOf(webhook, read.reading)
  if (reply !== undefined) return answer(options, event, read.reading, reply)
  const steps = await matchSteps(database, { service, providerCode, remoteId, scope, sandbox: event.sandbox })
  const [first] = steps
  if (first === undefined && isAboutNone(webhook, read.reading)) {
    await closeInbound(database, inboundId, { state: 'kept', note: 'A recipient has written something else than stop or start.' })
    return done
  }
  if (first === undefined) return { done: false, why: 'No dispatch has the vendor\'s id yet.' }
  if (steps.some(({ companyId }) => companyId !== first.companyId)) {
    await closeInbound(database, inboundId, { state: 'kept', note: 'Dispatches of several companies have the vendor\'s id.' })
    return done
  }
  if (isHinted(webhook)) return ask(options, event, provider, steps)
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
  const reported = await tell(options, { provider, webhook, step: first, type })
  if (!reported.ok) return { done: false, why: reported.why }
  const delivery = {
    kind: 'webhook' as const,
    status: reported.status,
    ...(reported.mark === undefined ? {} : { mark: reported.mark }),
    facts: { ...facts, type, ...(eventId === undefined ? {} : { eventId }), ...reported.facts },
    actor: { kind: 'provider' as const, code: providerCode }
  }
  await applyInbound(database, { inboundId, steps, delivery, moved: options.onStatusChange, ...(eventId === undefined ? {} : { eventId }) })
  return done
}

/** What a recipient answers by an event; undefined for an event about a dispatch. */
function replyOf ({ replies = {}, ...webhook }: WebhookManifest, { type }: EventReading): Reply | undefined {
  return Object.hasOwn(replies, type) && !isHinted(webhook) ? replies[type] : undefined
}

/**
 * Where recipients may answer, what names one, has no dispatch and no word of a delivery is an answer too, without effect: it waits for
 * nothing.
 */
function isAboutNone (webhook: WebhookManifest, { type, recipient }: EventReading): boolean {
  return webhook.replies !== undefined && recipient !== undefined && !Object.hasOwn(webhook.events, type) && !isConfirmed(webhook, type)
}

/** A recipient has answered: at the address of a configuration it is known whose recipient that is. A test changes nothing. */
async function answer (
  { database, onReply, log }: Options,
  { inbound_id: inboundId, service, provider_code: provider, company_id: companyId, sandbox }: InboundRow,
  { eventId, recipient = '' }: EventReading,
  reply: Reply
): Promise<Progress> {
  if (companyId === null || sandbox === true) {
    const note = companyId === null
      ? 'The answer of a recipient is taken at the address of a configuration (?account=) only.'
      : 'It is the answer to a test.'
    log.warn({ inboundId, service, provider }, note)
    await closeInbound(database, inboundId, { state: 'kept', note })
    return done
  }
  const wants = reply === 'stop' ? 'no more' as const : 'more' as const
  await applyReply(database, {
    inboundId,
    reply: { companyId, service, recipient, wants },
    answered: onReply,
    ...eventId !== undefined && { eventId }
  })
  return done
}

/** What an event says: read once, where it came with others in one body. */
async function readingOf (options: Options, event: InboundRow, provider: InstalledProvider, scope: Owner | null): Promise<ReadEvent> {
  // Only `readEvent` makes these, each checked.
  if (event.reading !== null) return { ok: true, reading: event.reading as EventReading }
  return await readEvent(provider, event.service, event.body, {
    ...(event.account !== null && { account: event.account }),
    ...(scope !== null && { redactor: await redactorFor(options, event.provider_code, scope) })
  })
}

/**
 * Takes a body with several events apart. At the address that companies share, whose process would have to read it again is not known
 * before each event's dispatch is: there it is kept.
 */
async function split ({ database, queue, log, newId }: Options, event: InboundRow, readings: readonly EventReading[]): Promise<Progress> {
  const { inbound_id: inboundId, service, provider_code: provider, account } = event
  if (account === null) {
    const note = 'Several events in one body are taken at the address of a configuration (?account=) only.'
    log.warn({ inboundId, service, provider, events: readings.length }, note)
    await closeInbound(database, inboundId, { state: 'kept', note })
  } else {
    await splitInbound(database, event, readings.map((reading) => ({ inboundId: newId(), reading })), enqueueInbound(queue))
  }
  return done
}

/** Asks the vendor about each step that has not been asked after since the event came: all that an unsigned event can do. */
async function ask (
  { database, statusQuery, onStatusChange }: Options,
  { inbound_id: inboundId, received_at: receivedAt }: InboundRow,
  provider: InstalledProvider,
  steps: readonly TrackedStep[]
): Promise<Progress> {
  for (const step of steps) {
    if (await wasPolledSince(database, step.stepId, receivedAt)) continue
    const answer = await statusQuery(provider, step)
    if (!answer.ok) return { done: false, why: `The vendor did not confirm it: ${answer.why}` }
    await applyPoll(database, step, answer, onStatusChange)
  }
  await closeInbound(database, inboundId, { state: 'applied' })
  return done
}

type Visit = Extract<Handshake, { visit: string }>

/** The handshake that a verified request asks for. */
async function askedBy ({ handshakes = [], ...reading }: WebhookManifest, body: Uint8Array): Promise<Visit | undefined> {
  const visits = handshakes.filter((one): one is Visit => 'visit' in one)
  if (visits.length === 0) return undefined
  const found = await handshakeIn(visits, readRequest({ headers: {}, body }, reading))
  return found !== undefined && 'visit' in found ? found : undefined
}

/** Confirms an address to the vendor, by a GET of the URL that its request names. */
async function visit (
  { database, webhookVerifier, fetchJson, log }: Options,
  { inbound_id: inboundId, service, account, body }: InboundRow,
  provider: InstalledProvider,
  { webhook, shake }: { webhook: WebhookManifest, shake: Visit }
): Promise<Progress> {
  const [address = ''] = await readRequest({ headers: {}, body }, webhook).textsAt({ body: shake.visit }) ?? []
  const url = declaredUrl(address, shake.hosts, await webhookVerifier.settingsFor({ provider, account }))
  if (url === undefined) {
    const note = `What is to be visited is at no host of the provider's handshake: ${shake.hosts.join(', ')}.`
    log.warn({ inboundId, service, provider: provider.code }, note)
    await closeInbound(database, inboundId, { state: 'dropped', note })
    return done
  }
  try {
    await fetchJson(url.href)
  } catch (error) {
    return { done: false, why: `The address could not be confirmed to the vendor: ${errorMessageOf(error)}` }
  }
  await closeInbound(database, inboundId, { state: 'applied', note: 'The address was confirmed to the vendor.' })
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

type Reported = { ok: true, status: DeliveryStatus | null, mark?: DeliveryMark, facts: JsonObject } | { ok: false, why: string }

/** The status that an event means: as it says itself, or as the vendor answers to a status query where the provider asks for one. */
async function tell (
  { statusQuery }: Options,
  { provider, webhook, step, type }: {
    provider: InstalledProvider
    webhook: WebhookManifest
    step: TrackedStep
    type: EventReading['type']
  }
): Promise<Reported> {
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
