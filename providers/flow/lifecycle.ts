import { failureOf, type Json } from '@dispatch/core/provider'
import { ask } from './api.ts'
import { Messages, Told } from './messages.ts'
import type { Call } from './settings.ts'

const day = 24 * 3600

/** The life cycle of an invoice (XP Z12-012), as delivery statuses. 209, 220 and others change none. */
export const lifecycle = {
  'fr:200': 'received', // deposited
  'fr:201': 'received', // sent
  'fr:202': 'received', // received by the platform of the customer
  'fr:203': 'made_available',
  'fr:204': 'taken_charge_of',
  'fr:205': 'accepted',
  'fr:206': 'partly_accepted',
  'fr:207': 'disputed',
  'fr:208': 'suspended',
  'fr:210': 'rejected', // by the customer
  'fr:212': 'paid',
  'fr:213': 'rejected' // by a platform
} as const

/** What an invoice has come to: `at` is YYYYMMDDhhmmss. */
type Known = { status: string, at: string, reason?: string }

/** So many messages are read at once. The next question goes on with the others. */
const maxMessages = 20

/** What an invoice is before any message is about it. */
const untold: Known = { status: '', at: '' }
/** Numbers that are longer are not remembered. */
const longest = 100

/** Seconds for which an invoice and what was said of one are remembered, and by which the platform's clock may be behind. */
const [kept, keptSaid, behind] = [90 * day, 7 * day, 3600]

type Remembering = Pick<Call, 'state' | 'log' | 'reference' | 'now'>

/** An invoice that was sent, and the time of what was told by then of another one with its number. */
type Sent = { number: string, before: string }

/**
 * Notes which invoice is about to be sent, so that it is known however its sending ends, what is told of it from now on, and from when on
 * messages may be about it.
 */
export async function begin ({ state, log, reference, now }: Remembering, number: unknown): Promise<void> {
  if (typeof number !== 'string' || number.length > longest) return
  await noting(log, async () => {
    const { at: before } = known(await state.putIfAbsent(`status:${number}`, untold, { ttl: kept })) ?? untold
    await state.put(`invoice:${reference}`, { number, before } satisfies Sent, { ttl: kept })
    await state.putIfAbsent('messages', earlier(now(), behind))
  })
}

/**
 * Forgets what was told of another invoice with the number of the one that the platform has got, such as its refusal. What was read since
 * this one was sent stays.
 */
export async function remember ({ state, log, reference }: Remembering): Promise<void> {
  await noting(log, async () => {
    const sent = sentOf(await state.get(`invoice:${reference}`))
    if (sent === undefined) return
    const { at } = known(await state.get(`status:${sent.number}`)) ?? untold
    if (at === sent.before) await state.put(`status:${sent.number}`, untold, { ttl: kept })
  })
}

/**
 * Notes what is about to be said. The platform shows it among the messages, where it would make an invoice paid of which a part is: what
 * comes of it, the core knows.
 */
export async function noteSaid ({ state, log, reference }: Remembering): Promise<void> {
  await noting(log, () => state.put(`said:${reference}`, true, { ttl: keptSaid }))
}

/** Without its notes the life cycle of an invoice is not told; it is sent all the same. */
async function noting (log: Call['log'], note: () => Promise<void>): Promise<void> {
  try {
    await note()
  } catch (error) {
    log.warn({ err: error }, 'the number of an invoice could not be remembered')
  }
}

/** The time so many seconds ago (ISO 8601). */
export function earlier (now: Date, seconds: number): string {
  return new Date(now.getTime() - seconds * 1000).toISOString()
}

/** What the invoice of a flow has come to, by the messages of the platform. Undefined as long as none is about it. */
export async function statusOf (flowId: string, call: Call): Promise<{ status: string, reason?: string } | undefined> {
  // Earlier versions noted it under the id of the flow.
  const sent = sentOf(await call.state.get(`invoice:${call.reference}`) ?? await call.state.get(`invoice:${flowId}`))
  if (sent === undefined) return undefined
  await readMessages(call)
  const found = known(await call.state.get(`status:${sent.number}`))
  if (found === undefined || found.at === untold.at) return undefined
  return { status: found.status, ...(found.reason !== undefined && { reason: found.reason }) }
}

/** Reads the messages that are new since the last time. */
async function readMessages (call: Call): Promise<void> {
  const { state, http } = call
  const updatedAfter = await state.get('messages') ?? earlier(call.now(), kept)
  const where = { flowType: ['CustomerInvoiceLC'], updatedAfter }
  const { results } = await http.post(...ask(call, 'flows/search', { json: { limit: 100, where } }), Messages)
  const inOrder = results.toSorted((one, other) => one.updatedAt < other.updatedAt ? -1 : 1)
  const last = inOrder[maxMessages - 1]?.updatedAt
  const together = inOrder.filter(({ updatedAt }) => last === undefined || updatedAt <= last)
  for (const [index, { flowId, updatedAt, flowSyntax = 'CDAR', trackingId }] of together.entries()) {
    const isOurs = typeof trackingId === 'string' && await state.get(`said:${trackingId}`) === true
    if (flowSyntax === 'CDAR' && !isOurs) await readMessage(call, flowId).catch(passOver(call, flowId))
    // The next question is for what is later: none of one moment may be left out.
    if (together[index + 1]?.updatedAt !== updatedAt) await state.put('messages', updatedAt)
  }
}

/** A message that is not there, or is none, holds up none behind it. A platform that is away, or asks to wait, is asked again. */
function passOver ({ log }: Pick<Call, 'log'>, flowId: string): (error: unknown) => void {
  return (error) => {
    const { status = 500 } = failureOf(error) ?? {}
    if (status >= 500 || [401, 403, 408, 429].includes(status)) throw error
    log.warn({ err: error, flowId }, 'a message about an invoice cannot be read, and is left out')
  }
}

async function readMessage (call: Call, flowId: string): Promise<void> {
  const [url, asked] = ask(call, `flows/${encodeURIComponent(flowId)}`, { query: { docType: 'Original' } })
  const { CrossDomainAcknowledgementAndResponse: reported } = await call.http.get(url, { ...asked, replyAs: 'xml' }, Told)
  for (const { IssueDateTime: { DateTimeString: time }, ReferenceReferencedDocument } of asList(reported.AcknowledgementDocument)) {
    const at = typeof time === 'string' ? time : time['#text']
    for (const { IssuerAssignedID: number = '', ProcessConditionCode: code = '', SpecifiedDocumentStatus: why = [] } of asList(
      ReferenceReferencedDocument
    )) {
      const status = `fr:${code}`
      // What changes no status is no news.
      if (!Object.hasOwn(lifecycle, status) || number.length > longest) continue
      const before = known(await call.state.get(`status:${number}`))
      // Others may send with the same account; and messages may come in another order than they were made in.
      if (before === undefined || before.at > at) continue
      const reason = asList(why).map(({ Reason, ReasonCode }) => Reason ?? ReasonCode).find((text) => text !== undefined)?.trim()
      await call.state.put(`status:${number}`, { status, at, ...(reason !== undefined && { reason }) }, { ttl: kept })
    }
  }
}

function asList<Part> (parts: Part | readonly Part[]): readonly Part[] {
  return Array.isArray(parts) ? parts as readonly Part[] : [parts as Part]
}

/** Earlier versions noted the number alone. */
function sentOf (value: Json | undefined): Sent | undefined {
  if (typeof value === 'string') return { number: value, before: untold.at }
  const { number, before } = (value ?? {}) as Partial<Sent>
  return typeof number === 'string' && typeof before === 'string' ? { number, before } : undefined
}

function known (value: Json | undefined): Known | undefined {
  const { status, at, reason } = (value ?? {}) as Partial<Known>
  return typeof status === 'string' && typeof at === 'string' ? { status, at, ...(typeof reason === 'string' && { reason }) } : undefined
}
