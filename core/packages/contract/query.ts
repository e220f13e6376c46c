import { Line } from '@dispatch/common'
import { serviceNames } from '@dispatch/services'
import { type Static, Type } from 'typebox'
import { AnyJsonObject, Metadata, ProviderCode } from './common.ts'
import { deliveryMarks, deliveryStatuses } from './delivery.ts'
import { errorTable, type ErrorWord, usualStepErrors } from './errors.ts'
import { ProviderList } from './provider-list.ts'
import { deferredStates, dispatchStatuses, searchedStepStatuses } from './states.ts'

const closed = { additionalProperties: false } as const

/** The number of items on a page of a list. */
export const PageLimit = Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 }))
const cursor = 'the nextCursor of the page before'
/** All words of errors: whoever gets one wrong is told the first of them. */
const errorWords = [...new Set<string>([...usualStepErrors, ...Object.keys(errorTable)])] as [ErrorWord, ...ErrorWord[]]
const UuidCursor = Type.Optional(Type.String({ format: 'uuid', description: cursor }))
/** The number of the item after which a page begins. */
export const NumberCursor = Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$', description: cursor }))

/** The query for a page of a list with numbered items. */
export const PageQuery = Type.Object({ limit: PageLimit, cursor: NumberCursor }, closed)
export type PageQuery = Static<typeof PageQuery>

/** The query for a page of a list whose items have UUIDs. */
export const UuidPageQuery = Type.Object({ limit: PageLimit, cursor: UuidCursor }, closed)
export type UuidPageQuery = Static<typeof UuidPageQuery>

export const DispatchQuery = Type.Object({
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'The id of the dispatch, of its request (of the last 7 days) or at the vendor, its idempotency key, its number, or its ' +
        'recipient; in full. Since version 1.1.0, where no id and no number is this, also a part of a number or a recipient with three ' +
        'letters or digits in a row, whatever its case and accents; with other filters, among the newest 2,000 that have the part.',
      examples: ['2026-0042']
    })
  ),
  status: Type.Optional(Type.Enum(dispatchStatuses)),
  service: Type.Optional(Type.String({ maxLength: 50 })),
  providerName: Type.Optional(Type.String({ maxLength: 50, description: 'The code of a provider: dispatches with a step of it.' })),
  stepStatus: Type.Optional(Type.Enum(searchedStepStatuses, {
    description: 'Dispatches with a step in this state; failed, since version 1.1.0: one that was refused, or not sent by the end of its ' +
      'dispatch.'
  })),
  error: Type.Optional(Type.Enum(errorWords, {
    description: 'Dispatches with a step that has this error now, in whichever state: stepStatus=failed leaves out those that are tried ' +
      'again. With "service", a step of that service. Since version 1.1.0.',
    examples: ['provider_error']
  })),
  deliveryStatus: Type.Optional(
    Type.Enum(deliveryStatuses, {
      description: 'Dispatches with a step of this delivery status: returned finds the letters that came back.'
    })
  ),
  deliveryMark: Type.Optional(
    Type.Enum(deliveryMarks, {
      description: 'Dispatches with a step of which the vendor has told this, such as an e-mail that was opened; since version 1.1.0.'
    })
  ),
  userId: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Who has sent them.' })),
  test: Type.Optional(Type.Boolean({ description: 'Only tests, or none.' })),
  scheduled: Type.Optional(
    Type.Boolean({ description: 'Only those that wait for the time at which they are to be sent, or none of them; since version 1.1.0.' })
  ),
  deferred: Type.Optional(
    Type.Enum(deferredStates, { description: 'Dispatches with a deferred action in this state: deferred=failed finds those to retry.' })
  ),
  invoiceNumber: Type.Optional(Type.String({ maxLength: 200 })),
  recipient: Type.Optional(Type.String({ maxLength: 200, description: 'The name of the recipient; case does not matter.' })),
  metadata: Type.Optional(
    Type.Unsafe<Metadata>({
      ...Metadata,
      title: 'MetadataFilter',
      description: 'Pairs that the metadata must contain: metadata[orderId]=A-1001.'
    })
  ),
  from: Type.Optional(Type.String({ format: 'iso-8601', description: 'Created at this time or later.' })),
  to: Type.Optional(Type.String({ format: 'iso-8601', description: 'Created before this time.' })),
  limit: PageLimit,
  cursor: UuidCursor
}, closed)
export type DispatchQuery = Static<typeof DispatchQuery>

/** The same as versions before 1.1.0 refuse it: what is newer is unknown to them, or none of their values. */
export const EarlierDispatchQuery = Type.Object({
  ...Type.Omit(DispatchQuery, ['error']).properties,
  stepStatus: Type.Optional(Type.Enum(searchedStepStatuses.filter((status) => status !== 'failed')))
}, closed)

/** The body of a choice of provider, or of a list of them; null removes the choice. */
export const ChoiceBody = Type.Object({
  providerName: Type.Optional(Type.Union([ProviderCode, Type.Null()])),
  providers: Type.Optional(ProviderList)
}, { ...closed, minProperties: 1, maxProperties: 1, title: 'ProviderChoice', examples: [{ providerName: 'simulator' }] })
export type ChoiceBody = Static<typeof ChoiceBody>

/** The body of a configuration, which replaces the old one. A secret that is left out is kept; null deletes it, elsewhere it is absence. */
export const ConfigurationBody = Type.Object({
  settings: AnyJsonObject,
  sandbox: Type.Optional(Type.Boolean({
    description: 'Nothing real happens and nothing is charged. Left out, it stays as it is, and is false for a new configuration.'
  })),
  useSandbox: Type.Optional(Type.Boolean({ description: 'Another name of "sandbox".' }))
}, { ...closed, title: 'NewConfiguration' })

/** Settings that are not saved yet. */
export const SuggestionsBody = Type.Object({
  settings: Type.Optional({
    ...AnyJsonObject,
    description: 'As they would be saved: a secret that is left out is the stored one. Left out, the stored settings are asked with.'
  }),
  sandbox: Type.Optional(Type.Boolean({ description: 'Left out, as it is stored, and false for a new configuration.' }))
}, { ...closed, title: 'SuggestionsQuestion' })

/** What a person has found out about an uncertain step, and how. */
export const ResolveBody = Type.Object({
  outcome: Type.Enum(['accepted', 'rejected'], { description: 'Whether the provider accepted the request.' }),
  reason: Line(500, { description: 'how the outcome is known, on one line', examples: ['Seen in the account of the vendor.'] })
}, { ...closed, title: 'Resolution' })

/** The query for a page of holds. */
export const HoldQuery = Type.Object({
  uncertain: Type.Optional(Type.Boolean({ default: false, description: 'Only steps with an uncertain outcome.' })),
  limit: PageLimit,
  cursor: UuidCursor
}, closed)

/** What an operator looks for over all companies. */
export const PlatformSearchQuery = Type.Object({
  search: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The number of the document, the recipient (case does not matter) or the id of the dispatch; in full.'
  }),
  limit: PageLimit,
  cursor: UuidCursor
}, closed)

/** Which dispatches that wait for a retry are released; without a filter, all of them. */
export const ReleaseBody = Type.Object({
  providerName: Type.Optional(ProviderCode),
  service: Type.Optional(Type.Enum([...serviceNames], { description: 'Dispatches that wait for a step of this service.' }))
}, { ...closed, title: 'Release', examples: [{ providerName: 'simulator' }] })

/** The headers of an idempotent request. */
export const IdempotencyHeaders = Type.Object({
  'x-idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'A repeat with the same key does nothing new: it answers with the current state of the first request\'s dispatch. ' +
        '`Idempotency-Key` is another name of it.'
    })
  ),
  'idempotency-key': Type.Optional(Type.String({ minLength: 1, maxLength: 255 }))
})
