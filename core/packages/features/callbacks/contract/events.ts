import { AnyJsonObject, Timestamp } from '@dispatch/contract'
import { streamSeconds } from '@dispatch/plugins/routes'
import { type Static, Type } from 'typebox'

/** Fifteen digits are exact in a number. */
export const eventId = /^\d{1,15}$/

const EventId = Type.String({ pattern: eventId.source, examples: ['17'] })

const after = Type.Optional({ ...EventId, description: 'The id of the last event that the client has; 0 for the oldest that is kept.' })

export const EventsQuery = Type.Object({
  after,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: '25 unless given.' }))
}, { additionalProperties: false })
export type EventsQuery = Static<typeof EventsQuery>

export const EventStreamQuery = Type.Object({ after, seconds: streamSeconds }, { additionalProperties: false })
export type EventStreamQuery = Static<typeof EventStreamQuery>

const CompanyEvent = Type.Object({
  id: EventId,
  body: Type.Object({
    type: Type.String({ description: 'A type of callback.' }),
    timestamp: Timestamp,
    sequence: Type.Integer({ minimum: 1, description: 'Its number among the callbacks of the dispatch or company.' }),
    data: AnyJsonObject
  }, { description: 'What a callback about it has as its body: the section `webhooks` of this document describes each type.' })
}, { title: 'CompanyEvent' })

export const EventsView = Type.Object({
  since: { ...Timestamp, description: 'When the company asked first. What happened before is not kept.' },
  data: Type.Array(CompanyEvent),
  more: Type.Boolean({ description: 'There are more events at this time: ask for those after the last one of these.' })
}, {
  title: 'CompanyEvents',
  examples: [{
    since: '2026-11-01T08:00:00.000Z',
    data: [{
      id: '17',
      body: {
        type: 'company.credits_low',
        timestamp: '2026-11-02T09:30:00.000Z',
        sequence: 1,
        data: { companyId: 7, balance: 90, held: 0, lowCredit: 100 }
      }
    }],
    more: false
  }]
})
export type EventsView = Static<typeof EventsView>
