import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { type DeliveryService, deliveryServices } from '@dispatch/contract'
import { contentIn, contentOf, createKeySources, createVendorSigningKey, isConfigured, ownKeyOf, parseBody, proves, type ReadEvent,
  readEvent, readFailed, signDelivery, type SignWith, statusOf, unsigned, verifiersOf, verifyWebhook, type WebhookManifest,
  type WebhookRequest, withKeysOf } from '@dispatch/host'
import { services } from '@dispatch/services'
import type { EventFixture } from '../fixtures/fixture.ts'
import { type Case, judged, skipped } from '../report.ts'
import { now } from '../run/clock.ts'
import { differs } from '../run/compare.ts'
import { inTurn } from '../run/in-turn.ts'
import { prepareSettings } from '../run/prepare.ts'
import { attempted, type ProviderUnderTest } from '../run/subject.ts'
import { bytesOf, type Hook } from './hook.ts'
import { eventWordCases } from './words.ts'

const endpoint = 'kit-endpoint:kit-password-of-the-endpoint'
const strange = 'kit-endpoint:another-password'

/** Tries each webhook with the events of its fixtures, genuine and forged. */
export async function webhookCases (subject: ProviderUnderTest): Promise<Case[]> {
  const { installed: { manifest }, fixtures } = subject
  const declared = deliveryServices.flatMap((service) =>
    manifest.webhooks?.[service] === undefined ? [] : [{ service, webhook: manifest.webhooks[service] }]
  )
  const strays = fixtures.events.filter(({ fixture: { service } }) => manifest.webhooks?.[service] === undefined).map(({ name, fixture }) =>
    judged('webhook', name, [`The provider has no webhook for "${fixture.service}".`])
  )
  const cases = await inTurn(declared, async ({ service, webhook }) => {
    const { hook, unfit } = hookOf(subject, service, webhook)
    if (hook.events.length === 0) {
      return [...unfit, judged('webhook', `the webhook of "${service}"`, ['There is no event to send: write fixtures/webhook.….json.'])]
    }
    const verified = await inTurn(waysOf(hook),
      async ({ way, missing }) => [...missing, ...await trueCases(way), ...await forgedCases(way)])
    return [
      ...unfit,
      ...verified.flat(),
      ...await partlyCases(hook),
      ...await eventWordCases(hook),
      ...await repeatedCases(hook),
      ...await malformedCases(hook)
    ]
  })
  return [...strays, ...cases.flat()]
}

/** The webhook with each of its verifiers alone, and the events whose settings have that verifier's secret. */
function waysOf (hook: Hook): { way: Hook, missing: Case[] }[] {
  const { verifiers, events, service } = hook
  if (verifiers.length === 1) return [{ way: hook, missing: [] }]
  return verifiers.map((verify, index) => {
    const own = events.filter(({ signed: { settings } }) => ownKeyOf(verify) === undefined || isConfigured(verify, settings))
    const name = `verifier ${index}, ${verify.kind}`
    return {
      way: { ...hook, verifiers: [verify], events: own.map((event) => ({ ...event, name: `${event.name} (${name})` })) },
      missing: own.length > 0
        ? []
        : [
          judged('webhook', `the webhook of "${service}" (${name})`, [
            'No event has its secret: write a fixtures/webhook.….json whose settings have it.'
          ])
        ]
    }
  })
}

function hookOf (subject: ProviderUnderTest, service: DeliveryService, webhook: WebhookManifest): { hook: Hook, unfit: Case[] } {
  const key = createVendorSigningKey('kit-1')
  const verifiers = verifiersOf(webhook).map((verify) => withKeysOf(key, verify))
  const found = subject.fixtures.events.filter(({ fixture }) => fixture.service === service).map((named) => ({
    named,
    settings: attempted(() => prepareSettings(subject.installed, named.fixture, 1))
  }))
  return {
    hook: {
      subject,
      service,
      webhook,
      verifiers,
      events: found.flatMap(({ named: { name, fixture }, settings }) =>
        settings.ok ? [{ name, fixture, body: bytesOf(fixture.body, webhook), signed: { key, settings: settings.value, endpoint } }] : []
      )
    },
    unfit: found.flatMap(({ named: { name }, settings }) => settings.ok ? [] : [judged('fixtures', name, [settings.why])])
  }
}

async function trueCases (hook: Hook): Promise<Case[]> {
  return await inTurn(hook.events, async ({ name, fixture: { expect }, signed, body }) => {
    const request = await sent(hook, body, signed)
    const verdict = await deliver(hook, request, signed)
    const content = await contentOf(hook.webhook.form, hook.verifiers, request)
    const read = await readEvent(hook.subject.installed, hook.service, content)
    return judged('webhook', name, [...differs('verdict', 'verified', verdict), ...readingFaults(hook, read, expect)])
  })
}

function readingFaults (hook: Hook, read: ReadEvent, { others: more = [], ...first }: EventFixture['expect']): string[] {
  if (!read.ok) return [read.reason]
  const { reading, others = [] } = read
  return [
    ...differs('number of events', 1 + more.length, 1 + others.length),
    ...[first, ...more].flatMap((expect, index) => faultsOf(hook, [reading, ...others][index], expect))
  ]
}

type Reading = Extract<ReadEvent, { ok: true }>['reading']

function faultsOf ({ webhook, service }: Hook, reading: Reading | undefined, expect: Omit<EventFixture['expect'], 'others'>): string[] {
  const { remoteId, type, eventId, status, reason } = expect
  if (reading === undefined) return []
  return [
    ...differs('id of the vendor ("remoteId")', remoteId, reading.remoteId),
    ...type === undefined ? [] : differs('vendor\'s word ("type")', type, reading.type),
    ...eventId === undefined ? [] : differs('id of the event ("eventId")', eventId, reading.eventId),
    ...reason === undefined ? [] : differs('reason', reason, reading.reason),
    ...Object.hasOwn(webhook.replies ?? {}, reading.type) && services[service].recipients?.known(reading.recipient ?? '') === undefined
      ? [`The answer of a recipient does not say whose it is: "recipient" is ${reading.recipient ?? 'not there'}.`]
      : [],
    ...differs('status', status, statusOf(webhook.events, reading.type) ?? 'unknown')
  ]
}

/** An event as the vendor sends it: signed, now or at another time. */
function sent (
  { verifiers, webhook }: Pick<Hook, 'verifiers' | 'webhook'>,
  body: Buffer,
  by: SignWith,
  at = now()
): Promise<WebhookRequest> {
  return signDelivery(verifiers, body, by, at, webhook)
}

/** The host's result for an event of a given configuration. */
async function deliver (
  { verifiers, webhook }: Hook,
  delivery: WebhookRequest,
  { settings, endpoint: expected }: Pick<SignWith, 'settings' | 'endpoint'>
): Promise<string> {
  const keys = createKeySources({ fetchJson: () => Promise.reject(new Error('The kit has the keys.')), now, onError: () => undefined })
  return (await verifyWebhook(verifiers, delivery, { settings: () => settings, endpoint: expected, keys, reading: webhook }, now())).verdict
}

/** An event for a configuration with the secrets of several verifiers, without the part that one of them needs. */
async function partlyCases (hook: Hook): Promise<Case[]> {
  const cases = await inTurn(hook.events, async ({ name, signed, body }) => {
    const own = hook.verifiers.filter((verify) => isConfigured(verify, signed.settings))
    return own.length < 2 ? [] : await inTurn(own, async (left) => {
      const verdict = await deliver(hook, await sent({ ...hook, verifiers: own.filter((verify) => verify !== left) }, body, signed), signed)
      return judged('forged', `${name}: without its ${left.kind}, though there is a secret for it`,
        verdict === 'verified' ? ['It is taken for the vendor\'s.'] : [])
    })
  })
  return cases.flat()
}

async function forgedCases (hook: Hook): Promise<Case[]> {
  const { verifiers, webhook, subject: { installed } } = hook
  const [verify] = verifiers
  const [event] = hook.events
  if (event === undefined || verify === undefined) return []
  const { name, fixture, signed, body } = event
  if (verify.kind === 'hint') return [skipped('forged', name, 'Nobody signs it: the vendor is asked for the status.')]
  const { secret, body: covered, time } = proves(verify)
  const good = await sent(hook, body, signed)
  const refused = async (what: string, delivery: WebhookRequest, to: Pick<SignWith, 'settings' | 'endpoint'> = signed): Promise<Case> => {
    const verdict = await deliver(hook, delivery, to)
    return judged('forged', `${name}: ${what}`, verdict === 'verified' ? ['It is taken for the vendor\'s.'] : [])
  }
  const without = (what: string, why: string): Case => skipped('forged', `${name}: ${what}`, why)
  const others = prepareSettings(installed, fixture, 2)
  const emptied = Object.fromEntries(
    Object.entries(signed.settings).map(([field, value]) => [field, typeof value === 'string' ? '' : value])
  )
  const stranger: SignWith = { key: createVendorSigningKey('kit-1'), settings: others, endpoint: strange }
  const headers = Object.entries(good.headers)
  const isSpoilt = verify.kind === 'signature'
  return [
    await refused('unsigned', { ...unsigned(body, webhook), headers: {} }),
    await refused('signed with nothing', {
      ...unsigned(body, webhook),
      headers: Object.fromEntries(headers.map(([header]) => [header, '']))
    }),
    await refused('signed with another secret', await sent(hook, body, stranger)),
    isSpoilt
      ? await refused('with one bit of its signature altered', await sent(hook, body, { ...signed, spoil: true }))
      : await refused('with one byte of its signature altered', {
        ...good,
        headers: Object.fromEntries(headers.map(([header, value = '']) => [header, alteredText(value)]))
      }),
    covered && webhook.form !== 'token'
      ? await refused('with one byte of its body altered', alteredBody(good, webhook))
      : without('with one byte of its body altered', 'What is proved does not cover the whole body.'),
    secret
      ? await refused('while no secret is configured', good, { settings: {}, endpoint: '' })
      : without('while no secret is configured', 'It needs no secret of the configuration.'),
    secret
      ? await refused('while the secret is empty', await sent(hook, body, { ...signed, settings: emptied, endpoint: ':' }), {
        settings: emptied,
        endpoint: ':'
      })
      : without('while the secret is empty', 'It needs no secret of the configuration.'),
    !secret || JSON.stringify(others) === JSON.stringify(signed.settings)
      ? without('for another company', 'All companies share the vendor\'s keys; the event is matched by the vendor\'s id.')
      : await refused('for another company', good, { settings: others, endpoint: strange }),
    time
      ? await refused('an hour old', await sent(hook, body, signed, new Date(now().getTime() - 2 * 3600_000)))
      : without('an hour old', 'What is signed has no time.')
  ]
}

/** The request with another last byte of its content. */
function alteredBody (good: WebhookRequest, { form }: WebhookManifest): WebhookRequest {
  if (form === 'query') return { ...good, query: alteredText(good.query ?? '') }
  const altered = Buffer.from(good.body)
  if (altered.length > 0) altered.writeUInt8(altered.readUInt8(altered.length - 1) ^ 1, altered.length - 1)
  return { ...good, body: altered }
}

/** Replaces a character in the middle by another one of base64 and of hexadecimal. */
function alteredText (text: string): string {
  const at = Math.floor(text.length / 2) + (text.at(Math.floor(text.length / 2)) === '.' ? 1 : 0)
  return text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1)
}

async function repeatedCases (hook: Hook): Promise<Case[]> {
  const { subject: { installed }, service, events } = hook
  const read = async (list: Hook['events']): Promise<string[]> =>
    (await inTurn(list, async ({ name, body, fixture }) =>
      readingFaults(hook, await readEvent(installed, service, body), fixture.expect).map((fault) =>
        `${name}: ${fault}`
      ))).flat()
  const different = [...new Map(events.map(({ body }) => [body.toString(), body])).values()]
  const readings = await inTurn(different, (body) => readEvent(installed, service, body))
  const ids = readings.flatMap((one) => one.ok ? [one.reading, ...one.others ?? []] : []).flatMap(({ eventId }) => eventId ?? [])
  return [
    judged('repeated', 'each event once more', await read(events)),
    judged('repeated', 'the last event first', await read(events.toReversed())),
    judged('repeated', 'different events', new Set(ids).size < ids.length
      ? [`Two of them have the same eventId, so that the second would be taken for the first: ${ids.join(', ')}.`]
      : [])
  ]
}

/** Bodies that are not events. If one fits the schema anyway, it must be readable. */
async function malformedCases ({ subject: { installed }, service, webhook, events: [event] }: Hook): Promise<Case[]> {
  if (event === undefined) return []
  const { name, body } = event
  const read = async (what: string, content: string | Buffer): Promise<Case> => {
    const result = await readEvent(installed, service, Buffer.from(content))
    return judged('malformed', `${name}: ${what}`, result.ok || !result.reason.startsWith(readFailed)
      ? []
      : [`It fits "body", and then "read" throws (${result.reason.slice(readFailed.length).trim()}): require in the schema what is read.`])
  }
  const parsed = await parseBody(webhook, body)
  const spoiled = parsed.ok ? spoil(parsed.value, webhook) : []
  return await inTurn([
    ['that is not JSON', 'This is not JSON.'],
    ['that is empty', ''],
    ['that is null', 'null'],
    ['that is a list', '[]'],
    ['that is an empty object', '{}'],
    ['that is huge', JSON.stringify({ huge: 'x'.repeat(2 * 1024 * 1024) })],
    ...spoiled
  ] as const, ([what, content]) => read(what, content))
}

/** The event without each of its fields in turn, and with null in its place. */
function spoil (value: Json, webhook: WebhookManifest): [string, Buffer][] {
  return pathsOf(value).flatMap((path) => [
    ...writable(`without ${path.join('.')}`, webhook, change(value, path, undefined)),
    ...writable(`with null at ${path.join('.')}`, webhook, change(value, path, null))
  ])
}

/** What can be written in the form of the webhook. */
function writable (what: string, webhook: WebhookManifest, value: Json | undefined): [string, Buffer][] {
  const written = attempted(() => contentIn(webhook, value ?? {}))
  return written.ok ? [[what, written.value]] : []
}

const deepest = 4

function pathsOf (value: Json, depth = 0): string[][] {
  if (depth === deepest || !isRecord(value)) return []
  return Object.entries(value).flatMap(([key, inner]) => [[key], ...pathsOf(inner, depth + 1).map((path) => [key, ...path])])
}

function change (value: Json, [key, ...path]: readonly string[], to: Json | undefined): Json | undefined {
  if (key === undefined) return to
  const { [key]: inner = null, ...others } = value as JsonObject
  const changedInner = change(inner, path, to)
  return { ...others, ...(changedInner !== undefined && { [key]: changedInner }) }
}
