import { DispatchError } from '@dispatch/contract'

/** The credentials in an Authorization header. */
export type Authorization =
  | { scheme: 'basic', email: string, password: string }
  | { scheme: 'bearer', token: string }

/** In characters: longer than any token, or any e-mail address with a password, of this service. */
const maxLength = 8192

/** `token68` of RFC 9110, the form of both a Basic value and a Bearer token. */
const header = /^(basic|bearer) +([\w\-.~+/]+=*) *$/i

/** Reads the header's value (RFC 7617 with UTF-8, RFC 6750). Throws `unauthorized`. */
export function readAuthorization (value: string | undefined): Authorization {
  if (value === undefined || value === '') {
    throw new DispatchError('unauthorized',
      'The Authorization header is required: "Basic <base64(email:password)>" or "Bearer <access token>".')
  }
  const [, scheme, rest] = (value.length > maxLength ? null : header.exec(value)) ?? []
  if (scheme === undefined || rest === undefined) throw malformed()
  return scheme.toLowerCase() === 'bearer' ? { scheme: 'bearer', token: rest } : readBasic(rest)
}

function readBasic (value: string): Authorization {
  const text = decode(value)
  const colon = text.indexOf(':')
  // RFC 7617 forbids control characters in both parts.
  if (colon < 0 || /\p{Cc}/u.test(text)) throw malformed()
  return { scheme: 'basic', email: text.slice(0, colon), password: text.slice(colon + 1) }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function decode (base64: string): string {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw malformed()
  try {
    return utf8.decode(Buffer.from(base64, 'base64'))
  } catch (cause) {
    throw malformed(cause)
  }
}

function malformed (cause?: unknown): DispatchError {
  return new DispatchError('unauthorized',
    'The Authorization header is malformed: it needs "Basic <base64(email:password)>" or "Bearer <access token>".', { cause })
}
