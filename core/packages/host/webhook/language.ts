import type { KeySet } from './keys.ts'

/**
 * Where a text stands in a request: in a header, in the query, or at a JSON pointer of the body as it is read. `part` names one part of a
 * header such as `t=1,s=ab` (of several names each counts), or tells its place, beginning with 0. `separator` stands between the parts, by
 * default a comma; without `part`, it separates several texts. A header name that ends with `*` stands for the names with 1 to 100 in its
 * place.
 */
export type Place =
  | { header: string, part?: string | number | readonly string[], separator?: string }
  | { query: string }
  | { body: string }

export type TextEncoding = 'hex' | 'base64' | 'base64url'

/** A piece of what is signed, but for hashes. */
type PlainPart<Setting extends string> =
  | 'body'
  | 'time'
  | 'method'
  | 'address'
  | 'address-without-query'
  | { text: string }
  | { header: string }
  | { query: string }
  | { body: string }
  | { setting: Setting }
  | { named: readonly string[] | 'sorted', separator?: string }

/**
 * A piece of what is signed. `body`: its raw bytes. `time`: the text of the signed time. `address`: the whole URL of the webhook, as the
 * vendor knows it, but for the signature where that stands in its query. An object with `text` is a constant; with `header`, `query` or
 * `body` (a JSON pointer) what stands there; with `setting` a setting of the configuration. `named`: members of the body by name, each as
 * its name and its value, with `separator` after both; one that is not there is left out. `sorted`: all fields of a form, sorted by name.
 * `hash`: the hash of other pieces.
 */
export type Part<Setting extends string = string> =
  | PlainPart<Setting>
  | {
    hash: 'sha256' | 'sha512' | 'sha1' | 'md5' | 'crc32'
    of: readonly PlainPart<Setting>[]
    /** By default hexadecimal. `bytes`: as they are. `decimal`: a number, of a CRC. */
    encoding?: TextEncoding | 'bytes' | 'decimal'
  }

/** When a request was signed. `tolerance`: the seconds by which it may differ from our time, by default 300. */
export type SignedTime = { at: Place, unit?: 'seconds' | 'milliseconds' | 'iso', tolerance?: number }

/** A secret of the configuration. `encoding`: how it is written, by default as a text; `prefix` may stand before it. */
export type SecretKey<Setting extends string = string> = { secret: Setting, encoding?: TextEncoding, prefix?: string }

/**
 * A public key of the vendor: in PEM, DER in base64, or the bytes of an Ed25519 key in base64. `setting`: of the configuration. `fixed`:
 * the key itself, or a set of keys (JWKS). `url`: where the vendor publishes its JWKS or a PEM. `certificate`: the event names the URL of
 * a certificate, which is read at these hosts only.
 */
export type PublicKey<Setting extends string = string> =
  | { setting: Setting }
  | { fixed: string | KeySet }
  | { url: string }
  | { certificate: Place, hosts: readonly string[] }

export const macs = ['hmac-sha256', 'hmac-sha512', 'hmac-sha1'] as const
export type Mac = typeof macs[number]

export const signatures = ['ecdsa-p256-sha256', 'ed25519', 'rsa-sha256', 'rsa-sha512', 'rsa-sha1', 'rsa-pss-sha256'] as const
export type SignatureAlgorithm = typeof signatures[number]

export const tokenMacs = ['HS256', 'HS384', 'HS512'] as const
export const tokenSignatures = ['RS256', 'RS512', 'PS256', 'ES256', 'EdDSA'] as const

/** `Algorithm` with the kind of key that it needs. */
type Keyed<Secret extends string, Public extends string, Setting extends string> =
  | { algorithm: Secret, key: SecretKey<Setting> }
  | { algorithm: Public, key: PublicKey<Setting> }

/**
 * A signature of the pieces in `signed`, in their order. `at`: where it stands, after `prefix`; of several, one that is valid suffices.
 * `sandbox`: whether the key is of the vendor's test environment (true) or of its real one (false); it vouches for that one only.
 */
export type Signature<Setting extends string = string> =
  & {
    kind: 'signature'
    signed: readonly Part<Setting>[]
    at: Place
    encoding: TextEncoding
    prefix?: string
    time?: SignedTime
    sandbox?: boolean
  }
  & Keyed<Mac, SignatureAlgorithm, Setting>

/**
 * A JSON Web Token: by default the bearer of Authorization, or `body`. `claims`: what must stand in claims, each as pieces that make a
 * text; the hash of nothing may be missing. `times`: the claims of time that it must have; each that it has is checked, `iat` with
 * `tolerance` seconds, by default 300.
 */
export type Token<Setting extends string = string> =
  & {
    kind: 'token'
    at?: Place | 'body'
    claims?: Readonly<Record<string, readonly Part<Setting>[]>>
    times?: readonly ('iat' | 'nbf' | 'exp')[]
    tolerance?: number
    sandbox?: boolean
  }
  & Keyed<typeof tokenMacs[number], typeof tokenSignatures[number], Setting>

/** A secret of the configuration that stands in the request as it is, after `prefix`. */
export type PlainSecret<Setting extends string = string> = { kind: 'secret', at: Place, prefix?: string, secret: Setting }

/**
 * Nothing proves who has sent it, but the address of a configuration, which nobody can guess. The vendor is asked for the status
 * (`confirm: true`); nothing that the event says counts.
 */
export type Hint = { kind: 'hint' }

/** `basic`: the credentials of the server's configuration, or those of one configuration where `user` and `password` name its settings. */
export type Basic<Setting extends string = string> = { kind: 'basic', user?: Setting, password?: Setting }

/**
 * A compact JWS in a header; its payload is the raw body, detached (RFC 7515, appendix F). `jwks` is a URL or the keys themselves; while it
 * is an empty set, only the keys that the server has for the provider count.
 */
export type Jws = { kind: 'jws', header: string, algorithm: 'PS256', jwks: string | KeySet, sandbox?: boolean }

/** What has code of its own. */
export type Spelled<Setting extends string = string> =
  | Signature<Setting>
  | Token<Setting>
  | PlainSecret<Setting>
  | Basic<Setting>
  | Jws
  | Hint

/**
 * Short forms of signatures and tokens that many vendors have.
 *
 * `hmac`: HMAC-SHA256 of the raw body. With `timestamp`, `<time>.<body>` is signed.
 * `jwt`: a token whose `claim`, by default `payload_hash`, is the SHA-256 of the raw body, with the time `iat`.
 * `standard`: Standard Webhooks 1.0.0, as svix and its customers sign, with the secret (`whsec_…`) of one configuration. `prefix` is that
 * of its three headers, by default `webhook`.
 * `stamped`: the time and HMAC-SHA256 of `<time>.<body>` in one header, `t=<seconds>,v1=<hex>`, as Stripe signs.
 */
export type ShortForm<Setting extends string = string> =
  | {
    kind: 'hmac'
    header: string
    algorithm: 'sha256'
    encoding: 'hex' | 'base64'
    prefix?: string
    secret: Setting
    timestamp?: { header: string, unit?: 'seconds' | 'milliseconds', tolerance?: number }
  }
  | {
    kind: 'jwt'
    header?: string
    algorithm: 'HS256'
    secret: Setting
    claim?: string
    encoding?: 'hex' | 'base64'
    issuer?: string
    tolerance?: number
  }
  | { kind: 'standard', prefix?: string, secret: Setting, tolerance?: number }
  | { kind: 'stamped', header: string, secret: Setting, tolerance?: number }

/** How the core verifies that an event comes from the vendor. `Setting` is the type of the names of the provider's settings. */
export type Verifier<Setting extends string = string> = Spelled<Setting> | ShortForm<Setting>

/** A signature whose key is a secret of the configuration. */
export type MacSignature = Extract<Signature, { key: SecretKey }>
/** A signature by a key of the vendor. */
export type KeySignature = Extract<Signature, { key: PublicKey }>

export function isMac (verify: Signature): verify is MacSignature {
  return 'secret' in verify.key
}

/** The header of a JSON Web Token where its verifier names none. */
export const bearer: Place = { header: 'Authorization' }

/** A verifier without short forms: each of them is a signature or a token. */
export function spelled (verify: Verifier): Spelled {
  switch (verify.kind) {
    case 'hmac': {
      const { header, encoding, prefix, secret, timestamp } = verify
      return {
        kind: 'signature',
        signed: timestamp === undefined ? ['body'] : ['time', { text: '.' }, 'body'],
        at: { header },
        algorithm: 'hmac-sha256',
        encoding,
        ...(prefix !== undefined && { prefix }),
        key: { secret },
        ...(timestamp !== undefined && { time: { ...timestamp, at: { header: timestamp.header } } })
      }
    }
    case 'jwt': {
      const { header, algorithm, secret, claim = 'payload_hash', encoding = 'hex', issuer, tolerance } = verify
      return {
        kind: 'token',
        at: header === undefined ? bearer : { header },
        algorithm,
        key: { secret },
        claims: {
          ...(issuer !== undefined && { iss: [{ text: issuer }] }),
          [claim]: [{ hash: 'sha256', of: ['body'], encoding }]
        },
        times: ['iat'],
        ...(tolerance !== undefined && { tolerance })
      }
    }
    case 'standard': {
      const { prefix: name = 'webhook', secret, tolerance } = verify
      return {
        kind: 'signature',
        signed: [{ header: `${name}-id` }, { text: '.' }, 'time', { text: '.' }, 'body'],
        at: { header: `${name}-signature`, separator: ' ' },
        algorithm: 'hmac-sha256',
        encoding: 'base64',
        prefix: 'v1,',
        key: { secret, encoding: 'base64', prefix: 'whsec_' },
        time: { at: { header: `${name}-timestamp` }, ...(tolerance !== undefined && { tolerance }) }
      }
    }
    case 'stamped': {
      const { header, secret, tolerance } = verify
      return {
        kind: 'signature',
        signed: ['time', { text: '.' }, 'body'],
        at: { header, part: 'v1' },
        algorithm: 'hmac-sha256',
        encoding: 'hex',
        key: { secret },
        time: { at: { header, part: 't' }, ...(tolerance !== undefined && { tolerance }) }
      }
    }
    default:
      return verify
  }
}

/** The setting with the key of a verifier, secret or public. */
export function ownKeyOf (verify: Verifier): string | undefined {
  const own = spelled(verify)
  if (own.kind === 'secret') return own.secret
  if (own.kind !== 'signature' && own.kind !== 'token') return undefined
  if ('secret' in own.key) return own.key.secret
  return 'setting' in own.key ? own.key.setting : undefined
}

/** The pieces of what is signed, hashes taken apart. */
export function partsOf (parts: readonly Part[]): readonly PlainPart<string>[] {
  return parts.flatMap((part) => typeof part === 'object' && 'hash' in part ? part.of : [part])
}

/** Whether the raw body is among what is signed, as it is or by a hash that cannot be forged. */
export function coversBody (parts: readonly Part[]): boolean {
  return parts.some((part) =>
    part === 'body' || (typeof part === 'object' && 'hash' in part && part.hash !== 'crc32' && part.of.includes('body'))
  )
}

/** All pieces that a verifier signs or compares. */
export function signedParts (verify: Spelled): readonly Part[] {
  if (verify.kind === 'signature') return verify.signed
  return verify.kind === 'token' ? Object.values(verify.claims ?? {}).flat() : []
}

/** Every place that a verifier reads. */
export function placesOf (verify: Spelled): readonly Place[] {
  const parts = partsOf(signedParts(verify)).filter((part): part is Place =>
    typeof part === 'object' && ('header' in part || 'query' in part || 'body' in part)
  )
  switch (verify.kind) {
    case 'signature':
      return [verify.at, ...verify.time === undefined ? [] : [verify.time.at], ...certificateOf(verify), ...parts]
    case 'token':
      return [...verify.at === 'body' ? [] : [verify.at ?? bearer], ...certificateOf(verify), ...parts]
    case 'secret':
      return [verify.at]
    case 'basic':
      return [{ header: 'authorization' }]
    case 'jws':
      return [{ header: verify.header }]
    case 'hint':
      return []
  }
}

function certificateOf ({ key }: Signature | Token): Place[] {
  return 'certificate' in key ? [key.certificate] : []
}

/** What a verifier proves, and with what. */
export type Proves = {
  /** It needs a secret of the configuration, or credentials of the server. */
  secret: boolean
  /** It covers the body, as it is or by a hash. */
  body: boolean
  /** It covers a time. */
  time: boolean
  /** It is the algorithm of the vendor, which an event of the vendor's own can show. */
  shown: boolean
}

export function proves (verify: Verifier): Proves {
  const own = spelled(verify)
  switch (own.kind) {
    case 'signature':
      return { secret: 'secret' in own.key, body: coversBody(own.signed), time: own.time !== undefined, shown: true }
    case 'token':
      return { secret: 'secret' in own.key, body: coversBody(signedParts(own)), time: (own.times ?? []).includes('iat'), shown: true }
    case 'jws':
      return { secret: false, body: true, time: false, shown: true }
    default:
      return { secret: own.kind !== 'hint', body: false, time: false, shown: false }
  }
}
