import { serviceNames } from '@dispatch/services'
import { type Static, type TInteger, type TOptional, Type } from 'typebox'

/** The services for which a company says how long their data are kept. */
export const keptServices = [...serviceNames]
type Kept = typeof keptServices[number]

/** Days: nobody keeps data for longer than the operator. */
const Days = Type.Integer({ minimum: 1, maximum: 99_999 })

const example = Object.fromEntries(keptServices.slice(0, 1).map((name) => [name, 7]))

const ofEach = Object.fromEntries(keptServices.map((name) => [name, Type.Optional(Days)])) as Record<Kept, TOptional<TInteger>>

const Services = Type.Object(ofEach, {
  additionalProperties: false,
  description: 'The days of single services, in place of `days`. A path of several services counts with the shortest of theirs.',
  examples: [example]
})

const AllDays = Type.Union([Days, Type.Null()], {
  description: 'For how many days the data of all services are kept that `services` does not name; null: as the operator says.',
  examples: [30]
})

export const RetentionBody = Type.Object({ days: Type.Optional(AllDays), services: Type.Optional(Services) }, {
  title: 'RetentionBody',
  additionalProperties: false,
  description: 'Replaces what was set. What is left out is as the operator says.',
  examples: [{ days: 30, services: example }]
})
export type RetentionBody = Static<typeof RetentionBody>

export const RetentionView = Type.Object({
  operatorDays: Type.Integer({
    minimum: 1,
    description: 'For how many days the operator keeps the data of all companies: none can be kept for longer.',
    examples: [90]
  }),
  days: AllDays,
  services: Services,
  inEffect: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: 'The days that count for each service: the shorter of what is set and `operatorDays`.',
    examples: [Object.fromEntries(keptServices.map((name, index) => [name, index === 0 ? 7 : 30]))]
  })
}, { title: 'Retention' })
export type RetentionView = Static<typeof RetentionView>
