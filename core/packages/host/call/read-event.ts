import { compile, compileOutsideSchema, errorMessageOf, memoizeByIdentity, type Validator, withinTurns } from '@dispatch/common'
import type { DeliveryService } from '@dispatch/contract'
import { nothingToHide, type OfConfiguration, type Redactor } from '@dispatch/vendor-io'
import { failureError, failureOf } from '@dispatch/vendor-io/outcome'
import { Type } from 'typebox'
import { copyJson } from '../contain/plain-json.ts'
import { withPlainReason } from '../contain/reason.ts'
import { runAs } from '../contain/stray-errors.ts'
import { LoadTimeout } from '../load/load-error.ts'
import type { InstalledProvider } from '../load/load.ts'
import { type BodyReading, parseBody } from '../webhook/body.ts'
import type { EventReading } from '../webhook/webhook.ts'

/** How the reason begins where `read` of a provider throws. */
export const readFailed = 'The provider could not read the event:'

/**
 * The content of a verified event, or one sentence that says why it cannot be read. `others`: the events that came in the same body.
 * `again`: not now, which says nothing about the event: it is to be tried again.
 */
export type ReadEvent =
  | { ok: true, reading: EventReading, others?: readonly EventReading[] }
  | { ok: false, reason: string, again?: true }

/** The most events of one body. */
const maxEvents = 5_000

const fitReading = compile(Type.Unsafe<EventReading>(Type.Object({
  remoteId: Type.String({ minLength: 1, maxLength: 500 }),
  type: Type.String({ minLength: 1, maxLength: 200 }),
  eventId: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  recipient: Type.Optional(Type.String({ minLength: 1, maxLength: 500 }))
})))

const checkOf = memoizeByIdentity((schema: object): Validator<unknown> => compileOutsideSchema(schema))

/** How long a provider may read one event: in milliseconds in which the event loop turns. */
const readLimit = 2_000

/**
 * Calls the provider's `read` with a verified event: JSON that fits its schema. The result is plain data, without the secrets of the
 * configuration whose event it is, where that is known. A reader that blocks this process cannot be stopped, so folders must be trusted.
 */
export async function readEvent (
  { code, manifest, eventReaders: readers }: InstalledProvider,
  service: DeliveryService,
  body: Uint8Array,
  { account, redactor = nothingToHide }: OfConfiguration = {}
): Promise<ReadEvent> {
  const webhook = manifest.webhooks?.[service]
  const read = readers[service]
  if (webhook === undefined || read === undefined) return { ok: false, reason: `The provider "${code}" has no webhook for "${service}".` }
  const event = await parse(webhook, body)
  if (!event.ok) return event
  try {
    const reading = runAs({ provider: code }, () => read(event.value, account))
    return redacted(readingsOf(reading instanceof Promise ? await withinTurns(readLimit, reading, waits()) : reading), redactor())
  } catch (error) {
    const reason = `${readFailed} ${redactor().text(errorMessageOf(error))}`
    return { ok: false, reason, ...(isPassing(error) ? { again: true } : {}) }
  }
}

/** Removes secrets. The ids of the event and of its dispatch are redacted as the id in the dispatch was, so that they still match. */
function redacted (read: ReadEvent, redact: Redactor): ReadEvent {
  if (!read.ok) return { ok: false, reason: redact.text(read.reason) }
  const withoutSecrets = ({ remoteId, type, eventId, ...facts }: EventReading): EventReading => ({
    ...redact.json(facts),
    remoteId: redact.id(remoteId),
    type: redact.id(type),
    ...(eventId !== undefined && { eventId: redact.id(eventId) })
  })
  const { reading, others } = read
  return { ok: true, reading: withoutSecrets(reading), ...(others !== undefined && { others: others.map(withoutSecrets) }) }
}

function waits (): Error {
  return failureError({ word: 'provider_unavailable', message: 'It waits for something else, and does not end.', ours: true })
}

/** Whether the provider could not be asked, or did not answer: that may be otherwise later. */
function isPassing (error: unknown): boolean {
  return error instanceof LoadTimeout || failureOf(error)?.word === 'provider_unavailable'
}

/** What a vendor's word means; null for a word that the provider does not know. */
export function statusOf<Meaning extends string> (words: Readonly<Record<string, Meaning>>, word: string): Meaning | null {
  return Object.hasOwn(words, word) ? words[word] ?? null : null
}

async function parse (
  webhook: BodyReading & { body: object },
  bytes: Uint8Array
): Promise<{ ok: true, value: unknown } | { ok: false, reason: string }> {
  const parsed = await parseBody(webhook, bytes)
  if (!parsed.ok) return parsed
  const fit = checkOf(webhook.body)(parsed.value)
  const [problem] = fit.ok ? [] : fit.problems
  return problem === undefined ? parsed : { ok: false, reason: `The body does not fit: ${problem.path} ${problem.message}` }
}

/** One reading, or those of a list. Each must be plain, whole and bounded. */
function readingsOf (returned: unknown): ReadEvent {
  if (!Array.isArray(returned)) return readingOf(returned)
  if (returned.length === 0) return { ok: false, reason: 'There is no event in the body.' }
  if (returned.length > maxEvents) return { ok: false, reason: `There are more than ${maxEvents} events in the body.` }
  const readings: EventReading[] = []
  for (const one of returned as unknown[]) {
    const read = readingOf(one)
    if (!read.ok) return read
    readings.push(read.reading)
  }
  const [reading, ...others] = readings
  return reading === undefined
    ? { ok: false, reason: 'There is no event in the body.' }
    : { ok: true, reading, ...(others.length > 0 && { others }) }
}

function readingOf (returned: unknown): ReadEvent {
  const copied = copyJson(returned)
  const fit = copied.ok ? fitReading(copied.value) : copied
  if (fit.ok) return { ok: true, reading: withPlainReason(fit.value) }
  return {
    ok: false,
    reason: `The provider's reading of the event is invalid: ${
      fit.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ')
    }`
  }
}
