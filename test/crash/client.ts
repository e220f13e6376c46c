import { setTimeout as pause } from 'node:timers/promises'
import type { Order } from './plan.ts'

/**
 * The last answer that a client got; nothing when its connection was cut and it had no key to ask again with. `at`: when it came, Unix time
 * in milliseconds.
 */
export type Answer = { status: number, body: any, at: number }
/** `unsent`: when the client was told that nothing was sent, each time. */
export type Told = { order: Order, answer?: Answer, unsent: readonly number[] }

/** Milliseconds between two tries, and how often a client comes again with what was surely not sent. */
const retryPauseMs = 250
const triesOfUnsent = 3

/** Milliseconds that a client with a key waits for an answer before it asks another process. */
const answerWithin = 15_000

type Sending = {
  token?: string
  method?: string
  headers?: Record<string, string>
  body?: unknown
  signal?: AbortSignal | null
}

/** Sends to any of the addresses; undefined when the connection was cut or refused. */
export async function send (
  url: string,
  path: string,
  { token, method = 'POST', headers = {}, body, signal = null }: Sending = {}
): Promise<Answer | undefined> {
  try {
    const response = await fetch(url + path, {
      method,
      signal,
      headers: {
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' })
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    return { status: response.status, body: await response.json(), at: Date.now() }
  } catch {
    // Refused or cut: the process has died, which is what this is about; or nobody answers in time.
    return undefined
  }
}

/**
 * Orders as a careful client does, from the first address on: with a key it asks again until it knows what became of the request, without
 * one never.
 */
export async function place (order: Order, urls: readonly string[], token: string, over: AbortSignal): Promise<Told> {
  const headers: Record<string, string> = {
    ...(order.keyed ? { 'x-idempotency-key': `order-${order.number}` } : {}),
    ...(order.version === undefined ? {} : { 'x-api-version': order.version })
  }
  const unsent: number[] = []
  for (let attempt = 0; !over.aborted; attempt++) {
    const signal = order.keyed ? AbortSignal.any([over, AbortSignal.timeout(answerWithin)]) : over
    const answer = await send(urls[attempt % urls.length] ?? '', order.path, { token, headers, body: order.body, signal })
    if (answer !== undefined && saysUnsent(answer, attempt)) unsent.push(answer.at)
    if (answer !== undefined && (!order.keyed || isTelling(answer, unsent.length))) {
      await retry(order, answer, urls, token)
      return { order, answer, unsent }
    }
    if (!order.keyed) return { order, unsent }
    await pause(retryPauseMs)
  }
  return { order, unsent }
}

/** Whether an answer says that nothing was sent. Of the database it says so of this request alone: the first of its key. */
function saysUnsent ({ body: { error, message } }: Answer, attempt: number): boolean {
  return error === 'provider_unavailable' ||
    (error === 'service_unavailable' && attempt === 0 && String(message).includes('nothing was changed'))
}

/** Has what did not succeed go on, at several processes at once. */
async function retry (
  { retries }: Order,
  { body: { status, error, dispatchId } }: Answer,
  urls: readonly string[],
  token: string
): Promise<void> {
  if (dispatchId === undefined || error === undefined || status === 'running') return
  await Promise.all(
    Array.from({ length: retries },
      (_, index) => send(urls[index % urls.length] ?? '', `/api/v1/dispatches/${dispatchId}/retry`, { token, body: {} }))
  )
}

/** Whether an answer says what became of the dispatch: neither a failure of the service itself nor one to try again after. */
function isTelling ({ status, body }: Answer, unsent: number): boolean {
  if (body.error === 'recording_unknown') return false
  return body.error === 'provider_unavailable' ? unsent >= triesOfUnsent : status < 500 || body.dispatchId !== undefined
}
