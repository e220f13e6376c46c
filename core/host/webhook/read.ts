import { compile, compileJsonSchema, inspectJson, memoizeByIdentity, type Validator, withinTurns } from '@dispatch/common'
import { isUtf8 } from 'node:buffer'
import { Type } from 'typebox'
import type { DeliveryService } from '../../contract/delivery.ts'
import { failureError, failureOf } from '../call/failure.ts'
import { errorMessageOf, LoadTimeout } from '../call/load-error.ts'
import { copyJson } from '../call/plain-json.ts'
import { withPlainReason } from '../call/reason.ts'
import { nothingToHide, type OfConfiguration, type Redactor } from '../call/redact.ts'
import { runAs } from '../call/stray-errors.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { EventReading } from './webhook.ts'

/** How the reason begins where `read` of a provider throws. */
export const readFailed = 'The provider could not read the event:'

/**
 * The content of a verified event, or one sentence that says why it cannot be read. `again`: not now, which says nothing about the event:
 * it is to be tried again.
 */
export type ReadEvent = { ok: true, reading: EventReading } | { ok: false, reason: string, again?: true }

const fitReading = compile(Type.Unsafe<EventReading>(Type.Object({
  remoteId: Type.String({ minLength: 1, maxLength: 500 }),
  type: Type.String({ minLength: 1, maxLength: 200 }),
  eventId: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  recipient: Type.Optional(Type.String({ minLength: 1, maxLength: 500 }))
})))

const checkOf = memoizeByIdentity((schema: object): Validator<unknown> => compileJsonSchema(schema))

/** In which a provider must read one event, in milliseconds that the event loop turns. */
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
  const event = parse(body, checkOf(webhook.body))
  if (!event.ok) return event
  try {
    const reading = runAs({ provider: code }, () => read(event.value, account))
    return redacted(readingOf(reading instanceof Promise ? await withinTurns(readLimit, reading, waits()) : reading), redactor())
  } catch (error) {
    const reason = `${readFailed} ${redactor().text(errorMessageOf(error))}`
    return { ok: false, reason, ...(isPassing(error) ? { again: true } : {}) }
  }
}

/** What identifies the event and its dispatch is treated as the id was that the dispatch has kept. */
function redacted (read: ReadEvent, redact: Redactor): ReadEvent {
  if (!read.ok) return { ok: false, reason: redact.text(read.reason) }
  const { remoteId, type, eventId, ...others } = read.reading
  return {
    ok: true,
    reading: {
      ...redact.json(others),
      remoteId: redact.id(remoteId),
      type: redact.id(type),
      ...(eventId !== undefined && { eventId: redact.id(eventId) })
    }
  }
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

function parse (body: Uint8Array, check: Validator<unknown>): { ok: true, value: unknown } | { ok: false, reason: string } {
  if (!isUtf8(body)) return { ok: false, reason: 'The body is not UTF-8.' }
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString())
    const fit = check(value)
    const [problem] = [...inspectJson(value), ...(fit.ok ? [] : fit.problems)]
    return problem === undefined ? { ok: true, value } : { ok: false, reason: `The body does not fit: ${problem.path} ${problem.message}` }
  } catch {
    return { ok: false, reason: 'The body is not JSON.' }
  }
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
