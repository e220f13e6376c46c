import { createHmac } from 'node:crypto'

/** Milliseconds for which a replaced secret still signs. */
export const overlap = 24 * 3600 * 1000
/** Bytes; Standard Webhooks asks for 24 to 64. */
export const secretLength = 32
/** The most signatures of one message, the newest first. */
export const mostSignatures = 5

/** The headers of Standard Webhooks 1.0.0 for one attempt: a signature with each of the first keys, which are the newest. */
export function signedHeaders (
  keys: readonly Uint8Array[],
  { id, body, now }: { id: string, body: string, now: Date }
): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = keys.slice(0, mostSignatures).map((key) =>
    `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  )
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

/** A secret as it is shown once, in the format of the libraries of Standard Webhooks. */
export function secretText (key: Buffer): string {
  return `whsec_${key.toString('base64')}`
}
