import { type Static, Type } from 'typebox'
import { Timestamp } from './common.ts'
import { dispatchStatuses } from './states.ts'

/** Which dispatches are counted. */
export const StatisticsQuery = Type.Object({
  from: Type.Optional(Type.String({ format: 'iso-8601', description: 'Created at this time or later; by default 24 hours before "to".' })),
  to: Type.Optional(Type.String({ format: 'iso-8601', description: 'Created before this time; by default now.' })),
  test: Type.Optional(Type.Boolean({ description: 'Only tests, or none; since version 1.1.0.' }))
}, { additionalProperties: false })
export type StatisticsQuery = Static<typeof StatisticsQuery>

/** How many dispatches ended how. */
export const StatisticsView = Type.Object({
  from: Timestamp,
  to: Timestamp,
  data: Type.Array(Type.Object({
    service: Type.String(),
    status: Type.Enum(dispatchStatuses),
    count: Type.Integer({ minimum: 1 })
  }), { description: 'A dispatch of several services counts for each of them.' })
}, { title: 'Statistics' })
export type StatisticsView = Static<typeof StatisticsView>
