import { Uuid } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import { Timestamp } from './common.ts'
import { errorTable } from './errors.ts'
import { PageLimit } from './query.ts'

/** The classes of HTTP statuses. */
export const statusClasses = ['2xx', '3xx', '4xx', '5xx'] as const
export type StatusClass = typeof statusClasses[number]

/** Which requests are wanted. */
export const RequestQuery = Type.Object({
  requestId: Type.Optional(Type.String({ maxLength: 128, description: 'The X-Request-ID of an answer.' })),
  status: Type.Optional(Type.Enum(statusClasses)),
  route: Type.Optional(
    Type.String({ maxLength: 200, description: 'A route as the entries have it.', examples: ['/api/v1/dispatches/:id'] })
  ),
  keyId: Type.Optional(Type.String({ format: 'uuid', description: 'The API key that was used.' })),
  test: Type.Optional(
    Type.Boolean({ description: 'Only tests, or none: requests with a test key, and those with `sandbox`; since version 1.1.0.' })
  ),
  from: Type.Optional(Type.String({ format: 'iso-8601', description: 'At this time or later.' })),
  to: Type.Optional(Type.String({ format: 'iso-8601', description: 'Before this time.' })),
  limit: PageLimit,
  cursor: Type.Optional(Type.String({ format: 'uuid', description: 'the nextCursor of the page before' }))
}, { additionalProperties: false })
export type RequestQuery = Static<typeof RequestQuery>

/** What a log has not kept, because the company had used up its share: counts in place of entries. */
export const LogCountView = Type.Object({
  log: Type.Enum(['requests', 'exchanges'], { description: '`exchanges`: calls of providers.' }),
  from: Type.String({ format: 'date-time', description: 'The hour.' }),
  subject: Type.String({ description: 'Method and route, or service and provider.', examples: ['GET none'] }),
  result: Type.String({ description: 'The status, or the outcome.', examples: ['404'] }),
  count: Type.Integer({ minimum: 1 })
}, { title: 'LogCount' })
export type LogCountView = Static<typeof LogCountView>

/** A request of a company, as it was answered. It has neither the body nor the query nor headers. */
export const RequestView = Type.Object({
  id: Uuid,
  at: Timestamp,
  requestId: Type.String(),
  method: Type.String(),
  route: Type.String({ description: 'The pattern of the path; "none" where there is no such route.' }),
  path: Type.String(),
  status: Type.Integer(),
  error: Type.Optional(Type.String({ description: 'The word of the error.', examples: Object.keys(errorTable).slice(0, 1) })),
  milliseconds: Type.Number({ minimum: 0 }),
  author: Type.Object({
    userId: Type.Integer(),
    impersonatorId: Type.Optional(Type.Integer({ description: 'The user who acted under this identity.' })),
    keyId: Type.Optional(Type.String({ description: 'The API key that was used.' }))
  }),
  address: Type.Optional(Type.String({ description: 'The address of the client. It is not shown where somebody acted for the user.' }))
}, { title: 'LoggedRequest' })
export type RequestView = Static<typeof RequestView>
