import { Type, type Static, type TProperties } from 'typebox'
import { AnyJson, AnyJsonObject } from '../contract/common.ts'
import { deliveryStatuses, eventServices } from '../contract/delivery.ts'
import { compile } from '../contract/schema.ts'
import { providerErrors } from '../host/failure.ts'
import { providedNames } from '../services/index.ts'

const closed = { additionalProperties: false }
const Texts = Type.Record(Type.String(), Type.String())
const Pairs = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]))
const Pointer = Type.String({ pattern: '^/', description: 'a JSON pointer into the request, such as "/document"' })

/** A part of a multipart body, as it must arrive. */
const Part = Type.Union([
  Type.String(),
  Type.Object({ text: Type.String(), contentType: Type.Optional(Type.String()) }, closed),
  Type.Object({ json: AnyJson, contentType: Type.Optional(Type.String()) }, closed),
  Type.Object({ document: Pointer, filename: Type.Optional(Type.String()), contentType: Type.Optional(Type.String()) }, closed)
], { description: 'a text, or an object with one of "text", "json" and "document"' })
export type Part = Static<typeof Part>

/** A request as the vendor must get it: whole, except that only the headers that are named count. */
const Expected = Type.Object({
  method: Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  url: Type.String({ pattern: '^https://', description: 'a URL that begins with https://' }),
  query: Type.Optional(Pairs),
  headers: Type.Optional(Texts),
  basic: Type.Optional(Type.Array(Type.String(), { minItems: 2, maxItems: 2 })),
  bearer: Type.Optional(Type.String()),
  form: Type.Optional(Pairs),
  json: Type.Optional(AnyJson),
  multipart: Type.Optional(Type.Record(Type.String(), Type.Union([Part, Type.Array(Part)], { description: 'a part or a list of parts' }))),
  document: Type.Optional(Pointer),
  text: Type.Optional(Type.String())
}, closed)
export type Expected = Static<typeof Expected>

/** What the vendor answers. */
const Answer = Type.Object({
  status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
  headers: Type.Optional(Texts),
  json: Type.Optional(AnyJson),
  text: Type.Optional(Type.String())
}, closed)

const Exchange = Type.Array(Type.Object({ expect: Expected, answer: Answer }, closed), { maxItems: 50 })
export type Exchange = Static<typeof Exchange>

/** An e-mail as a mail server must get it: signed in, from and to whom, and what stands in it. */
const ExpectedMail = Type.Object({
  host: Type.String(),
  port: Type.Optional(Type.Integer({ description: 'left out: 587' })),
  user: Type.Optional(Type.String()),
  password: Type.Optional(Type.String()),
  from: Type.String(),
  to: Type.Array(Type.String(), { minItems: 1, description: 'everybody who gets it: copies included, those that the server refuses not' }),
  headers: Type.Optional(Texts),
  contains: Type.Optional(Type.Array(Type.String(), { description: 'texts that stand in the message as it is sent' })),
  documents: Type.Optional(Type.Array(Pointer))
}, closed)
export type ExpectedMail = Static<typeof ExpectedMail>

/** What the mail server says to the message, and to recipients that it does not take, such as "550 No such user". */
const MailAnswer = Type.Object({ message: Type.Optional(Type.String()), refused: Type.Optional(Texts) }, closed)
export type MailAnswer = Static<typeof MailAnswer>

const MailExchange = Type.Object({ expect: ExpectedMail, answer: Type.Optional(MailAnswer) }, closed)
export type MailExchange = Static<typeof MailExchange>

/** What became of a call that came to nothing; what is left out is not compared. */
const Failed = Type.Object({
  outcome: Type.Enum(['rejected', 'unavailable', 'uncertain']),
  error: Type.Object({
    word: Type.Enum(Object.keys(providerErrors)),
    code: Type.Optional(Type.String()),
    message: Type.Optional(Type.String())
  }, closed),
  checkpoint: Type.Optional(Type.String())
}, closed)

const Sent = Type.Object({ outcome: Type.Literal('accepted'), response: AnyJsonObject, checkpoint: Type.Optional(Type.String()) }, closed)

const shared = {
  service: Type.Enum([...providedNames]),
  settings: AnyJsonObject,
  requestSettings: Type.Optional(AnyJsonObject),
  sandbox: Type.Optional(Type.Boolean()),
  checkpointed: Type.Optional(Type.String({ minLength: 1 })),
  rest: Type.Optional(Type.Object({ answer: AnyJsonObject, recipients: Type.Array(Type.String(), { minItems: 1 }) }, closed)),
  exchange: Type.Optional(Exchange),
  mail: Type.Optional(MailExchange)
} satisfies TProperties

/** `send.*.json`: a dispatch, all that it says to the vendor, and what becomes of it. */
const Send = Type.Object({
  ...shared,
  request: AnyJsonObject,
  result: Type.Unsafe<Static<typeof Sent> | Static<typeof Failed>>({
    type: 'object',
    required: ['outcome'],
    properties: { outcome: { enum: ['accepted', 'rejected', 'unavailable', 'uncertain'] } },
    if: { properties: { outcome: { const: 'accepted' } } },
    then: Sent,
    else: Failed
  })
}, closed)
export type Send = Static<typeof Send>

/** `lookup.*.json`, `status.*.json`: a question, and what the verb returns or how it fails. */
const Question = Type.Object({
  ...shared,
  query: Type.Optional(AnyJsonObject),
  appearsAfter: Type.Optional(Type.Number({ minimum: 0, description: 'seconds after it was accepted, of what a look-up finds' })),
  result: AnyJsonObject
}, closed)
export type Question = Static<typeof Question>

/** `webhook.*.json`: an event of the vendor, and what it says. */
const Event = Type.Object({
  service: Type.Enum([...eventServices]),
  settings: AnyJsonObject,
  body: Type.Unsafe<string | Readonly<Record<string, unknown>> | readonly unknown[]>({ type: ['string', 'object', 'array'] }),
  headers: Type.Optional(Texts),
  expect: Type.Object({
    remoteId: Type.String({ minLength: 1 }),
    type: Type.Optional(Type.String({ minLength: 1 })),
    status: Type.Enum([...deliveryStatuses, 'unknown']),
    eventId: Type.Optional(Type.String({ minLength: 1 }))
  }, closed)
}, closed)
export type Event = Static<typeof Event>

export const fitSend = compile(Send)
export const fitQuestion = compile(Question)
export const fitEvent = compile(Event)
