import { createHmac } from 'node:crypto'
import { isNear, isSame } from './compare.ts'
import type { VerificationStatus, WebhookRequest } from './signature.ts'
import type { Verifier } from './webhook.ts'

type Standard = Extract<Verifier, { kind: 'standard' }>
type Stamped = Extract<Verifier, { kind: 'stamped' }>

/** The three headers of Standard Webhooks, in lower case. */
export function standardHeaders ({ prefix = 'webhook' }: Pick<Standard, 'prefix'>): Record<'id' | 'time' | 'signature', string> {
  const name = prefix.toLowerCase()
  return { id: `${name}-id`, time: `${name}-timestamp`, signature: `${name}-signature` }
}

/** The key in a secret of Standard Webhooks: base64 after `whsec_`. Undefined for anything else. */
export function standardKey (secret: string | undefined): Buffer | undefined {
  const [, encoded] = /^(?:whsec_)?([A-Za-z0-9+/]{4,}={0,2})$/.exec(secret ?? '') ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
}

/** The HMAC-SHA256 of `<id>.<time>.<body>`. */
export function standardMac (key: Buffer, { id, time, body }: { id: string, time: string, body: Uint8Array }): Buffer {
  return createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest()
}

/** Standard Webhooks 1.0.0. One valid signature of version `v1` is enough, because a vendor that changes its secret signs with both. */
export function verifyStandard (
  verify: Standard,
  secret: string | undefined,
  { headers, body }: WebhookRequest,
  at: Date
): VerificationStatus {
  const key = standardKey(secret)
  if (key === undefined) return 'no_secret'
  const names = standardHeaders(verify)
  const { [names.id]: id = '', [names.time]: time, [names.signature]: list = '' } = headers
  if (list === '') return 'no_signature'
  // A full stop in the id would let a part of the body pass for the time.
  if (id === '' || id.includes('.')) return 'malformed_signature'
  if (!isNear(time, verify, at)) return 'wrong_time'
  const given = list.split(' ').flatMap((one) => one.startsWith('v1,') ? [Buffer.from(one.slice(3), 'base64')] : [])
  return judge(given, standardMac(key, { id, time: time ?? '', body }))
}

/** The HMAC-SHA256 of `<time>.<body>`. */
export function stampedMac (secret: string, { time, body }: { time: string, body: Uint8Array }): Buffer {
  return createHmac('sha256', secret).update(`${time}.`).update(body).digest()
}

/** Stripe's form: the time and the signatures in one header, `t=<time>,v1=<hex>`. One valid signature is enough. */
export function verifyStamped (
  verify: Stamped,
  secret: string | undefined,
  { headers, body }: WebhookRequest,
  at: Date
): VerificationStatus {
  if (secret === undefined || secret === '') return 'no_secret'
  const text = headers[verify.header.toLowerCase()] ?? ''
  if (text === '') return 'no_signature'
  const valuesOf = (name: string): string[] =>
    text.split(',').map((part) => part.trim()).flatMap((part) => part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : [])
  const [time, ...others] = valuesOf('t')
  if (time === undefined || others.length > 0) return 'malformed_signature'
  if (!isNear(time, verify, at)) return 'wrong_time'
  return judge(valuesOf('v1').map((one) => Buffer.from(one, 'hex')), stampedMac(secret, { time, body }))
}

/** All signatures are compared, so that the time does not show which one was valid. */
function judge (given: readonly Buffer[], expected: Buffer): VerificationStatus {
  if (given.length === 0) return 'malformed_signature'
  return given.map((one) => isSame(one, expected)).includes(true) ? 'verified' : 'wrong_signature'
}
