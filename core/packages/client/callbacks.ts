/** The headers of a request, as any server has them. */
export type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export type CallbackFault = 'header_missing' | 'body_not_raw' | 'secret_unreadable' | 'signature_wrong' | 'too_old' | 'not_json'

/** A callback that cannot be trusted, with what to do. Answer it with 400: the service sends it again later. */
export class CallbackError extends Error {
  override readonly name = 'CallbackError'
  readonly fault: CallbackFault
  constructor (fault: CallbackFault, message: string, options?: ErrorOptions) {
    super(message, options)
    this.fault = fault
  }
}

/** A callback of a type that this version of the client does not know. Answer it with 200, so that it is not sent again. */
export type UnknownCallback = { type: 'unknown', unknownType: string, message: string, payload: Readonly<Record<string, unknown>> }

export type VerifyOptions = {
  /** How many seconds old a callback may be, or ahead of this machine's clock; 300 unless given. */
  tolerance?: number
  /** The clock, in milliseconds since 1970. */
  now?: () => number
}

/** The event of a callback whose signature is right (Standard Webhooks 1.0.0). Throws `CallbackError`. */
export async function verified (
  headers: HeadersLike,
  rawBody: string | Uint8Array,
  secrets: string | readonly string[],
  known: readonly string[],
  { tolerance = 300, now = Date.now }: VerifyOptions
): Promise<object> {
  if (typeof rawBody !== 'string' && !(rawBody instanceof Uint8Array)) {
    throw new CallbackError('body_not_raw',
      'The signature is of the bytes of the body: give verifyCallback the raw body, before any middleware reads it as JSON.')
  }
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => headerOf(headers, name))
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    throw new CallbackError('header_missing',
      'The headers webhook-id, webhook-timestamp and webhook-signature must be there: this is no callback of the service, or a proxy has ' +
        'removed them.')
  }
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : rawBody
  const message = signedBytes(id, timestamp, body)
  const given = signatures.split(' ').flatMap((one) => one.startsWith('v1,') ? bytesOf(one.slice(3)) ?? [] : [])
  const keys = await Promise.all([secrets].flat().map(keyOf))
  const checks = await Promise.all(
    keys.flatMap((key) => given.map((signature) => crypto.subtle.verify('HMAC', key, signature, message)))
  )
  if (!checks.includes(true)) {
    throw new CallbackError('signature_wrong',
      'The signature fits none of the secrets: take the secret of this endpoint, and the body exactly as it came.')
  }
  const age = Math.floor(now() / 1000) - Number(timestamp)
  if (!(Math.abs(age) <= tolerance)) {
    throw new CallbackError('too_old',
      `The callback was signed ${Math.abs(age)} s ${age > 0 ? 'ago' : 'ahead of this clock'}, and ${tolerance} s are allowed: set the ` +
        'clock of this machine, unless somebody replays an old callback.')
  }
  return eventOf(new TextDecoder().decode(body), known)
}

function eventOf (text: string, known: readonly string[]): Readonly<Record<string, unknown>> | UnknownCallback {
  let payload: Readonly<Record<string, unknown>>
  try {
    payload = JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch (cause) {
    throw new CallbackError('not_json', 'The body is signed, but it is not JSON: it was not sent by this service.', { cause })
  }
  const type = String(payload['type'])
  return known.includes(type) ? payload : {
    type: 'unknown',
    unknownType: type,
    message:
      `This version of @dispatch/client does not know callbacks of the type "${type}": answer 200 to leave it, or update the package.`,
    payload
  }
}

export type SignOptions = { id?: string, now?: () => number }

/** The request that the service would send for an event: its body and its signed headers. For tests of a receiver. */
export async function signed (
  event: object,
  secret: string,
  { id = crypto.randomUUID(), now = Date.now }: SignOptions
): Promise<{ headers: Record<string, string>, body: string }> {
  const body = JSON.stringify(event)
  const timestamp = String(Math.floor(now() / 1000))
  const signature = await crypto.subtle.sign('HMAC', await keyOf(secret), signedBytes(id, timestamp, new TextEncoder().encode(body)))
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`
    },
    body
  }
}

function headerOf (headers: HeadersLike, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : value?.join(' ')
}

function signedBytes (id: string, timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const bytes = new Uint8Array(head.length + body.length)
  bytes.set(head)
  bytes.set(body, head.length)
  return bytes
}

async function keyOf (secret: string | undefined): Promise<CryptoKey> {
  // Without types, a variable that is not set comes here as well.
  const bytes = bytesOf(/^whsec_(.+)/.exec(secret ?? '')?.[1] ?? '')
  if (bytes === undefined || bytes.length === 0) {
    throw new CallbackError('secret_unreadable',
      `A secret is written "whsec_" and base64, as POST /api/v1/company/callback-secret shows it once${
        secret === undefined ? ', and this one is undefined' : ''
      }.`)
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])
}

/** The bytes of base64; undefined for what is none. */
function bytesOf (base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
