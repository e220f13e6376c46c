import { compileOutsideSchema, errorMessageOf, type Json, type JsonObject, type Problem } from '@dispatch/common'
import { AnyJsonObject, type DeliveryMark, deliveryMarksOf, type DeliveryService, deliveryServices, type DeliveryStatus,
  deliveryStatusesOf } from '@dispatch/contract'
import { services } from '@dispatch/services'
import { type Static, type TSchema, Type } from 'typebox'
import { byService } from '../settings/by-service.ts'
import type { SettingsSchema } from '../settings/settings-schema.ts'
import { type BodyForm, bodyForms } from './body.ts'
import { type Handshake, handshakeProblems, HandshakesSchema } from './handshake.ts'
import { verifierProblems } from './language-problems.ts'
import { formProblems, Pointer, VerifiersSchema } from './language-schema.ts'
import type { Verifier } from './language.ts'

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

/** What a recipient answers: no more, or again more. */
export const replies = ['stop', 'start'] as const
export type Reply = typeof replies[number]

/** A vendor's events for one service. All fields are data except `read`, which gets a verified event that fits `body`. */
export type Webhook<Service extends DeliveryService, Setting extends string, Body extends TSchema> = {
  /**
   * One verifier, or several. Of several, each one for which the configuration has a secret must succeed. Without any secret, one is
   * enough.
   */
  verify: Verifier<Setting> | readonly [Verifier<Setting>, ...Verifier<Setting>[]]
  /** How the content of an event is read; by default it is JSON. */
  form?: BodyForm
  /** JSON pointers of texts in it that are JSON themselves, and are read so. */
  json?: readonly string[]
  /** An event that does not fit is stored and changes nothing. */
  body: Body
  /** Of several events in one body it returns a list. */
  read: (event: Static<Body>) => EventReading | readonly EventReading[]
  /** The delivery status, or the mark of an e-mail, for each of the vendor's words. Any other word is stored as `unknown`. */
  events: Readonly<Record<string, DeliveryStatus<Service> | DeliveryMark<Service>>>
  /**
   * What recipients may answer, for each of the vendor's words: that they want no more, or again more. Such an event is about no dispatch:
   * `recipient` says who. It counts for the company at whose own address (`?account=`) it comes.
   */
  replies?: Readonly<Record<string, Reply>>
  /** The body of the answer that the vendor expects: JSON or a text, by default `{}`. */
  acknowledge?: string | JsonObject
  /**
   * The event only says that something has changed. The verb `status` then asks the vendor for the status. A list: only the events with
   * these words do.
   */
  confirm?: true | readonly string[]
  /** What the vendor asks besides events; the host answers. */
  handshakes?: readonly [Handshake, ...Handshake[]]
}

/** The webhooks of a provider's services, as the provider writes them. */
export type Webhooks<Setting extends string, Bodies extends Partial<Record<DeliveryService, TSchema>>> = {
  [Service in keyof Bodies & DeliveryService]: Webhook<Service, Setting, NonNullable<Bodies[Service]>>
}

/** A webhook in a manifest: plain JSON; `body` is a JSON Schema. */
export type WebhookManifest = {
  verify: Verifier | readonly Verifier[]
  form?: BodyForm
  json?: string[]
  body: JsonObject
  events: Record<string, DeliveryStatus | DeliveryMark>
  replies?: Record<string, Reply>
  acknowledge?: string | JsonObject
  confirm?: true | readonly string[]
  handshakes?: readonly Handshake[]
}
export type WebhookManifests = Partial<Record<DeliveryService, WebhookManifest>>

/** The part `webhooks` of a manifest. */
export const WebhookManifests = Type.Unsafe<WebhookManifests>(byService(deliveryServices, {
  own: (service) => ({
    form: Type.Optional(Type.Enum([...bodyForms])),
    json: Type.Optional(Type.Array(Pointer, { minItems: 1, maxItems: 10 })),
    body: AnyJsonObject,
    events: Type.Record(Type.String(), Type.Enum([...deliveryStatusesOf(service), ...deliveryMarksOf(service)])),
    ...services[service].recipients === undefined
      ? {}
      : { replies: Type.Optional(Type.Record(Type.String(), Type.Enum([...replies]))) },
    acknowledge: Type.Optional(Type.Unsafe<Json>({ type: ['string', 'object'] })),
    confirm: Type.Optional(Type.Union([Type.Literal(true), Type.Array(Type.String(), { minItems: 1, uniqueItems: true })])),
    read: Type.Optional(Type.Never({ description: 'a function that reads an event' }))
  }),
  shared: { verify: VerifiersSchema, handshakes: Type.Optional(HandshakesSchema) },
  required: ['verify']
}))

/** How the events of a webhook are verified: in one way, or in several. */
export function verifiersOf ({ verify }: Pick<WebhookManifest, 'verify'>): readonly Verifier[] {
  return isSeveral(verify) ? verify : [verify]
}

function isSeveral (verify: WebhookManifest['verify']): verify is readonly Verifier[] {
  return Array.isArray(verify)
}

/** Whether nobody signs its events: nothing counts but that something has changed. */
export function isHinted (webhook: Pick<WebhookManifest, 'verify'>): boolean {
  return verifiersOf(webhook).some(({ kind }) => kind === 'hint')
}

/** Whether the vendor is asked for the status when an event with the word comes. */
export function isConfirmed ({ confirm = [] }: Pick<WebhookManifest, 'confirm'>, word: string): boolean {
  return confirm === true || confirm.includes(word)
}

const placeOf = (verify: WebhookManifest['verify'], index: number): string => isSeveral(verify) ? `/verify/${index}` : '/verify'

/** What of the verifiers of a webhook does not have the form of its kind. */
export function misshapenVerifiers ({ verify }: Pick<WebhookManifest, 'verify'>, path: string): Problem[] {
  return verifiersOf({ verify }).flatMap((one, index) => formProblems(one, path + placeOf(verify, index)))
}

/** The problems of a webhook beyond its shape. `settings` is the settings schema whose fields it names. */
export function webhookProblems (webhook: WebhookManifest, settings: SettingsSchema, path: string): Problem[] {
  const around = { settings, form: webhook.form ?? 'json', confirmed: webhook.confirm === true }
  return [
    ...verifiersOf(webhook).flatMap((verify, index) => verifierProblems(verify, around, path + placeOf(webhook.verify, index))),
    ...bodyProblems(webhook.body, `${path}/body`),
    ...handshakeProblems(webhook.handshakes ?? [], settings, `${path}/handshakes`),
    ...webhook.form === 'token' && !verifiersOf(webhook).every(({ kind }) => kind === 'token')
      ? [{
        path: `${path}/form`,
        code: 'no_token',
        message: 'The claims of a token are the event: each verifier is of the kind "token" then.'
      }]
      : [],
    ...Object.keys(webhook.replies ?? {}).filter((word) => Object.hasOwn(webhook.events, word)).map((word) => ({
      path: `${path}/replies`,
      code: 'ambiguous_word',
      message: `"${word}" is a word of "events" too: an event is about a dispatch, or an answer of a recipient.`
    })),
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

function bodyProblems (body: JsonObject, path: string): Problem[] {
  if (Object.hasOwn(body, '$id')) {
    return [{ path: `${path}/$id`, code: 'named', message: 'No "$id": the name would be taken when the provider is reloaded.' }]
  }
  try {
    compileOutsideSchema(body)
    return []
  } catch (cause) {
    return [{ path, code: 'schema', message: `Not a JSON Schema: ${errorMessageOf(cause)}` }]
  }
}
