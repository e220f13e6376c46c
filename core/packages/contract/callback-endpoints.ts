import { Line, Uuid } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { attemptOutcomes, CallbackSecrets, callbackStates, callbackTypes, NewCallbackSecret } from './callbacks.ts'
import { CallbackUrl, Timestamp } from './common.ts'
import { PageLimit } from './query.ts'

const closed = { additionalProperties: false } as const

const Types = Type.Union([
  Type.Array(Type.Enum(callbackTypes), { minItems: 1, maxItems: callbackTypes.length, uniqueItems: true }),
  Type.Null()
], { title: 'EndpointTypes', description: 'The types of callbacks that it gets; null: all.' })

const Name = Line(100, { description: 'A name for people.', examples: ['Accounting'] })
const Enabled = Type.Boolean({ description: 'false: it gets nothing, and what waits for it is stopped.' })

/** The body of a new endpoint. */
export const NewEndpointBody = Type.Object({
  name: Name,
  url: CallbackUrl,
  types: Type.Optional(Types),
  enabled: Type.Optional(Enabled)
}, { ...closed, title: 'NewCallbackEndpoint' })
export type NewEndpointBody = Static<typeof NewEndpointBody>

/** The longest pause of an endpoint, in days. */
export const longestPause = 7

/** Changes of an endpoint. Fields that are left out do not change. */
export const EndpointChanges = Type.Object({
  ...Type.Partial(NewEndpointBody).properties,
  pausedUntil: Type.Optional(
    Type.Union([Type.String({ format: 'date-time', examples: ['2027-01-04T09:00:00Z'] }), Type.Null()], {
      description:
        `Until then, ${longestPause} days ahead at most, what comes waits and is not lost; null: it goes on now. Since version ` +
        '1.1.0.'
    })
  )
}, {
  ...closed,
  title: 'CallbackEndpointChanges',
  minProperties: 1,
  description: 'Fields that are left out do not change. What waits goes to the new address.'
})
export type EndpointChanges = Static<typeof EndpointChanges>

/** An endpoint of a company. */
export const EndpointView = Type.Object({
  id: Uuid,
  name: Type.String(),
  url: Type.String(),
  types: Types,
  enabled: Type.Boolean(),
  failingSince: Type.Union([Timestamp, Type.Null()], { description: 'The first failure after the last delivery; null: there was none.' }),
  pausedUntil: Type.Optional({ ...Timestamp, description: 'What comes waits until then; absent: it is not paused.' }),
  disabledAt: Type.Optional({
    ...Timestamp,
    description: 'When it was disabled because it had failed for 5 days; absent: it was not. Enabled again, it begins anew.'
  }),
  createdAt: Timestamp,
  ...CallbackSecrets.properties
}, { title: 'CallbackEndpoint' })
export type EndpointView = Static<typeof EndpointView>

/** A new endpoint with its secret, which is shown only here. */
export const NewEndpointView = Type.Object({ ...EndpointView.properties, secret: NewCallbackSecret.properties.secret }, {
  title: 'CreatedCallbackEndpoint'
})
export type NewEndpointView = Static<typeof NewEndpointView>

/** The endpoints of a company. */
export const Endpoints = Type.Object({ data: Type.Array(EndpointView) }, { title: 'CallbackEndpoints' })
export type Endpoints = Static<typeof Endpoints>

/** What the endpoint has answered to a test event. */
export const EndpointTest = Type.Object({
  outcome: Type.Enum(attemptOutcomes),
  status: Type.Optional(Type.Integer({ description: 'The HTTP status of the endpoint.' })),
  milliseconds: Type.Integer({ minimum: 0 }),
  reason: Type.Optional(Type.String({ description: 'Why it failed.' }))
}, { title: 'CallbackEndpointTest' })
export type EndpointTest = Static<typeof EndpointTest>

/** The type of a test event. */
export const testType = 'endpoint.test'

/** The body of a test event. */
export const TestCallback = Type.Object({
  type: Type.Literal(testType),
  timestamp: Timestamp,
  sequence: Type.Integer({ minimum: 1 }),
  data: Type.Object({ endpointId: Uuid, name: Type.String() })
}, { title: 'TestCallback' })

/** Which callbacks of an endpoint are listed. */
export const EndpointCallbackQuery = Type.Object({
  state: Type.Optional(Type.Enum(callbackStates)),
  dispatchId: Type.Optional(Type.String({ format: 'uuid', description: 'Those of one dispatch.' })),
  test: Type.Optional(Type.Boolean({ description: 'Only those about tests, or none of them; since version 1.1.0.' })),
  failedSince: Type.Optional(Type.String({
    format: 'date-time',
    description: 'Only those that are sent again since this time: failed or stopped, and their body is still kept; since version 1.1.0.'
  })),
  limit: PageLimit,
  cursor: Type.Optional(Type.String({ format: 'uuid', description: 'the nextCursor of the page before' }))
}, closed)
export type EndpointCallbackQuery = Static<typeof EndpointCallbackQuery>

/** Since when failed callbacks are sent again. */
export const ResendBody = Type.Object({
  since: Type.String({ format: 'date-time', description: 'Callbacks that were recorded at this time or later.' })
}, { ...closed, title: 'ResendCallbacks' })
export type ResendBody = Static<typeof ResendBody>

/** How many callbacks are sent again. */
export const Resent = Type.Object({
  queued: Type.Integer({ minimum: 0 }),
  more: Type.Boolean({ description: 'There may be more than one request takes: send it again.' })
}, { title: 'ResentCallbacks' })
export type Resent = Static<typeof Resent>
