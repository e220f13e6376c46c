import { Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

/** What usage is told apart by, besides pairs of metadata. */
export const groupings = ['service', 'provider', 'user', 'key'] as const
export type Grouping = typeof groupings[number]

/** Lengths of time by which usage is told. */
export const periods = ['hour', 'day', 'month'] as const
export type Period = typeof periods[number]

/** The most rows of an answer. */
export const maxRows = 5_000

const longestName = 50

const Filter = {
  from: Type.Optional(Type.String({
    format: 'iso-8601',
    description: 'Created in the hour of this time or later; by default 30 days before "to".'
  })),
  to: Type.Optional(Type.String({ format: 'iso-8601', description: 'Created before this time, its hour included; by default now.' })),
  by: Type.Optional(Type.String({
    maxLength: 200,
    pattern: `^(${groupings.join('|')}|metadata\\.[^,]{1,${longestName}})(,(${
      groupings.join('|')
    }|metadata\\.[^,]{1,${longestName}})){0,4}$`,
    description:
      'What each row is of, separated by commas: service, provider, user, key, and one metadata.<name>, which is counted of at ' +
      'most 31 days; left out, all together.',
    examples: ['service,provider']
  })),
  per: Type.Optional(Type.Enum(periods, { description: 'Tells each hour (of at most 31 days), day or month (UTC) by itself.' })),
  service: Type.Optional(Type.String({ maxLength: 50, description: 'Only what belongs to this service.' })),
  provider: Type.Optional(Type.String({ maxLength: 50, description: 'Only what belongs to the provider of this code.' })),
  userId: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Only what this user has sent.' })),
  test: Type.Optional(Type.Boolean({ default: false, description: 'Tests instead of what was sent for real.' }))
}

export const UsageQuery = Type.Object(Filter, { additionalProperties: false })
export type UsageQuery = Static<typeof UsageQuery>

const count = (description: string) => Type.Integer({ minimum: 0, description })

export const UsageRow = Type.Object({
  at: Type.Optional(Type.String({ format: 'date-time', description: 'When its hour, day or month began (UTC).' })),
  service: Type.Optional(Type.String()),
  provider: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Its code; null where a service needs none.' })),
  userId: Type.Optional(Type.Integer()),
  keyId: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: 'Null where it was sent without a key.' })),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
    description: 'The pair by which it is told; null where there is none of the name.'
  })),
  dispatches: count('A chain counts once for each of its services and providers where they are told apart, else once.'),
  accepted: count('Steps that their providers have accepted.'),
  failed: count('Steps that were refused, or not sent by the end of their dispatch.'),
  parts: count('Of texts, as networks count them: a long text has several.'),
  pages: count('Of the documents that steps have sent.'),
  credits: count('What was charged.'),
  failures: Type.Record(Type.String(), Type.Integer(), { description: 'Failed steps by the word of their error.' }),
  deliveries: Type.Record(Type.String(), Type.Integer(), { description: 'Accepted steps by their delivery status.' }),
  marks: Type.Record(Type.String(), Type.Integer(), {
    description:
      'Accepted steps of which their vendor has told this besides, such as that an e-mail was opened; nothing where the account ' +
      'at the vendor does not track it.'
  }),
  cost: Type.Union([Type.String({ examples: ['12.34'] }), Type.Null()], {
    description: 'In the currency of the answer, at the prices that are set now; null where none are, and of tests.'
  }),
  latency: Type.Union([
    Type.Object({
      p50: Type.Integer({ description: 'Milliseconds within which half of the calls of providers were answered.' }),
      p95: Type.Integer({ description: 'Milliseconds within which 95 of 100 calls were answered.' })
    }, { description: 'Of calls of providers, within 10 %.' }),
    Type.Null()
  ])
}, { title: 'UsageRow' })
export type UsageRow = Static<typeof UsageRow>

export const UsageView = Type.Object({
  from: Timestamp,
  to: Timestamp,
  countedAt: Type.Union([Timestamp, Type.Null()], {
    description: 'When something was counted last; null where nothing was yet.'
  }),
  currency: Type.Union([Type.String(), Type.Null()], { description: 'Of what it has cost; null where no prices are set.' }),
  data: Type.Array(UsageRow, { description: `By time, then by the number of dispatches. At most ${maxRows}.` }),
  leftOut: Type.Integer({ minimum: 0, description: 'How many rows more there are, those of the fewest dispatches.' })
}, { title: 'Usage' })
export type UsageView = Static<typeof UsageView>
