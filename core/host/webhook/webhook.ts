import { compileJsonSchema, type Json, type JsonObject, type Problem } from '@dispatch/common'
import { type Static, type TSchema, Type } from 'typebox'
import { AnyJsonObject } from '../../contract/common.ts'
import { type DeliveryMark, deliveryMarksOf, type DeliveryService, deliveryServices, type DeliveryStatus,
  deliveryStatusesOf } from '../../contract/delivery.ts'
import { errorMessageOf } from '../call/load-error.ts'
import { byService } from '../manifest/by-service.ts'
import { secretNames, type SettingsSchema } from '../settings/settings-schema.ts'

/** A JSON Web Key Set (RFC 7517) of public keys. */
export type KeySet = { readonly keys: readonly JsonObject[] }

/**
 * How the core verifies that an event comes from the vendor. `Setting` is the type of the names of the provider's settings.
 *
 * `jws`: a compact JWS in a header; its payload is the raw body, detached (RFC 7515, appendix F). `jwks` is a URL or the keys themselves;
 * while it is an empty set, only the keys that the server has for the provider count. `sandbox`: whether the keys belong to the vendor's
 * test environment (true) or to its production environment (false); they are valid for events of that environment only.
 * `basic`: the credentials of the server's configuration, or those of one configuration where `user` and `password` name its settings.
 * `hmac`: HMAC-SHA256 of the raw body with the secret of one configuration. A header name that ends with `*` stands for the names with 1 to
 * 100 in its place. With `timestamp`, `<time>.<body>` is signed. The time is in seconds by default, and may differ from ours by `tolerance`
 * seconds, by default 300.
 * `jwt`: a JSON Web Token in a header, by default the bearer of Authorization, signed with the secret of one configuration. Its `claim`, by
 * default `payload_hash`, is the SHA-256 of the raw body. Its `iat` may differ from our time by `tolerance` seconds, by default 300, and
 * its `exp`, if it has one, must not be past.
 * `standard`: Standard Webhooks 1.0.0, as svix and its customers sign, with the secret (`whsec_…`) of one configuration. `prefix` is that
 * of its three headers, by default `webhook`.
 * `stamped`: the time and HMAC-SHA256 of `<time>.<body>` in one header, `t=<seconds>,v1=<hex>`, as Stripe signs.
 */
export type Verifier<Setting extends string = string> =
  | { kind: 'jws', header: string, algorithm: 'PS256', jwks: string | KeySet, sandbox?: boolean }
  | { kind: 'basic', user?: Setting, password?: Setting }
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

/**
 * The content of an event. `remoteId`: the vendor's id of the transaction, the same as in the answer to the dispatch. `type`: the vendor's
 * word. `eventId`: identifies a repeated event, where the raw body does not. `recipient`: whom an e-mail's event is about. `reason`: why,
 * in the words of whoever declined or refused; the host keeps 500 characters in one line. Further fields are stored in the timeline.
 */
export type EventReading = JsonObject & {
  readonly remoteId: string
  readonly type: string
  readonly eventId?: string
  readonly recipient?: string
  readonly reason?: string
}

/** A vendor's events for one service. All fields are data except `read`, which gets a verified event that fits `body`. */
export type Webhook<Service extends DeliveryService, Setting extends string, Body extends TSchema> = {
  /**
   * One verifier, or several. Of several, each one for which the configuration has a secret must succeed. Without any secret, one is
   * enough.
   */
  verify: Verifier<Setting> | readonly [Verifier<Setting>, ...Verifier<Setting>[]]
  /** An event that does not fit is stored and changes nothing. */
  body: Body
  read: (event: Static<Body>) => EventReading
  /** The delivery status, or the mark of an e-mail, for each of the vendor's words. Any other word is stored as `unknown`. */
  events: Readonly<Record<string, DeliveryStatus<Service> | DeliveryMark<Service>>>
  /** The body of the answer that the vendor expects: JSON or a text, by default `{}`. */
  acknowledge?: string | JsonObject
  /**
   * The event only says that something has changed. The verb `status` then asks the vendor for the status. A list: only the events with
   * these words do.
   */
  confirm?: true | readonly string[]
}

/** The webhooks of a provider's services, as the provider writes them. */
export type Webhooks<Setting extends string, Bodies extends Partial<Record<DeliveryService, TSchema>>> = {
  [Service in keyof Bodies & DeliveryService]: Webhook<Service, Setting, NonNullable<Bodies[Service]>>
}

/** A webhook in a manifest: plain JSON; `body` is a JSON Schema. */
export type WebhookManifest = {
  verify: Verifier | readonly Verifier[]
  body: JsonObject
  events: Record<string, DeliveryStatus | DeliveryMark>
  acknowledge?: string | JsonObject
  confirm?: true | readonly string[]
}
export type WebhookManifests = Partial<Record<DeliveryService, WebhookManifest>>

const closed = { additionalProperties: false }
const Header = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,78}\\*?$' })
const Setting = Type.String({ minLength: 1 })
/** Seconds. */
const Tolerance = Type.Number({ exclusiveMinimum: 0, maximum: 3600 })

const verifiers: Record<Verifier['kind'], TSchema> = {
  jws: Type.Object({
    kind: Type.Literal('jws'),
    header: Header,
    algorithm: Type.Literal('PS256'),
    jwks: Type.Union([Type.String({ pattern: '^https://' }), Type.Object({ keys: Type.Array(AnyJsonObject) })]),
    sandbox: Type.Optional(Type.Boolean())
  }, closed),
  basic: Type.Object({ kind: Type.Literal('basic'), user: Type.Optional(Setting), password: Type.Optional(Setting) }, closed),
  hmac: Type.Object({
    kind: Type.Literal('hmac'),
    header: Header,
    algorithm: Type.Literal('sha256'),
    encoding: Type.Enum(['hex', 'base64']),
    prefix: Type.Optional(Type.String({ minLength: 1, maxLength: 40 })),
    secret: Setting,
    timestamp: Type.Optional(Type.Object({
      header: Header,
      unit: Type.Optional(Type.Enum(['seconds', 'milliseconds'])),
      tolerance: Type.Optional(Tolerance)
    }, closed))
  }, closed),
  jwt: Type.Object({
    kind: Type.Literal('jwt'),
    header: Type.Optional(Header),
    algorithm: Type.Literal('HS256'),
    secret: Setting,
    claim: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })),
    encoding: Type.Optional(Type.Enum(['hex', 'base64'])),
    issuer: Type.Optional(Type.String({ minLength: 1 })),
    tolerance: Type.Optional(Tolerance)
  }, closed),
  standard: Type.Object({
    kind: Type.Literal('standard'),
    prefix: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,39}$' })),
    secret: Setting,
    tolerance: Type.Optional(Tolerance)
  }, closed),
  stamped: Type.Object({ kind: Type.Literal('stamped'), header: Header, secret: Setting, tolerance: Type.Optional(Tolerance) }, closed)
}

const VerifierSchema = {
  type: 'object',
  required: ['kind'],
  properties: { kind: { enum: Object.keys(verifiers) } },
  allOf: Object.entries(verifiers).map(([kind, then]) => ({ if: { properties: { kind: { const: kind } } }, then }))
}

const VerifiersSchema = Type.Unsafe<WebhookManifest['verify']>({
  if: { type: 'array' },
  then: { type: 'array', minItems: 1, maxItems: 10, items: VerifierSchema },
  else: VerifierSchema
})

/** The part `webhooks` of a manifest. */
export const WebhookManifests = Type.Unsafe<WebhookManifests>(byService(deliveryServices, {
  own: (service) => ({
    body: AnyJsonObject,
    events: Type.Record(Type.String(), Type.Enum([...deliveryStatusesOf(service), ...deliveryMarksOf(service)])),
    acknowledge: Type.Optional(Type.Unsafe<Json>({ type: ['string', 'object'] })),
    confirm: Type.Optional(Type.Union([Type.Literal(true), Type.Array(Type.String(), { minItems: 1, uniqueItems: true })])),
    read: Type.Optional(Type.Never({ description: 'a function that reads an event' }))
  }),
  shared: { verify: VerifiersSchema },
  required: ['verify']
}))

/** How the events of a webhook are verified: in one way, or in several. */
export function verifiersOf ({ verify }: Pick<WebhookManifest, 'verify'>): readonly Verifier[] {
  return isSeveral(verify) ? verify : [verify]
}

function isSeveral (verify: WebhookManifest['verify']): verify is readonly Verifier[] {
  return Array.isArray(verify)
}

/** Whether the vendor is asked for the status when an event with the word comes. */
export function isConfirmed ({ confirm = [] }: Pick<WebhookManifest, 'confirm'>, word: string): boolean {
  return confirm === true || confirm.includes(word)
}

/** The problems of a webhook beyond its shape. `settings` is the settings schema whose fields it names. */
export function webhookProblems (webhook: WebhookManifest, settings: SettingsSchema, path: string): Problem[] {
  const placeOf = (index: number): string => isSeveral(webhook.verify) ? `${path}/verify/${index}` : `${path}/verify`
  return [
    ...verifiersOf(webhook).flatMap((verify, index) => settingProblems(namedBy(verify), settings, placeOf(index))),
    ...bodyProblems(webhook.body, `${path}/body`),
    ...strayWords(webhook).map((word) => ({
      path: `${path}/confirm`,
      code: 'unknown_word',
      message: `"${word}" is not a word of "events".`
    }))
  ]
}

/** Words that are confirmed, and mean nothing. */
function strayWords ({ confirm = [], events }: WebhookManifest): string[] {
  return confirm === true ? [] : confirm.filter((word) => !Object.hasOwn(events, word))
}

function namedBy (verify: Verifier): { secret?: string | undefined, user?: string | undefined, password?: string | undefined } {
  if ('secret' in verify) return { secret: verify.secret }
  return verify.kind === 'basic' ? { user: verify.user, password: verify.password } : {}
}

function settingProblems (named: ReturnType<typeof namedBy>, settings: SettingsSchema, path: string): Problem[] {
  const secrets = secretNames(settings)
  const problems = Object.entries(named).flatMap(([name, setting]) => {
    if (setting === undefined) return []
    if (!Object.hasOwn(settings.properties, setting)) {
      return [{ path: `${path}/${name}`, code: 'unknown_setting', message: `There is no setting "${setting}".` }]
    }
    const open = name !== 'user' && !secrets.includes(setting)
    return open ? [{ path: `${path}/${name}`, code: 'not_secret', message: `The setting "${setting}" must be a Secret().` }] : []
  })
  const single = 'user' in named && (named.user === undefined) !== (named.password === undefined)
  return single
    ? [...problems, { path, code: 'incomplete', message: 'Name a setting for both "user" and "password", or for neither.' }]
    : problems
}

function bodyProblems (body: JsonObject, path: string): Problem[] {
  if (Object.hasOwn(body, '$id')) {
    return [{ path: `${path}/$id`, code: 'named', message: 'No "$id": the name would be taken when the provider is reloaded.' }]
  }
  try {
    compileJsonSchema(body)
    return []
  } catch (cause) {
    return [{ path, code: 'schema', message: `Not a JSON Schema: ${errorMessageOf(cause)}` }]
  }
}
