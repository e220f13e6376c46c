import { type Static, Type } from 'typebox'

const TimeOfDay = Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description: 'HH:MM', examples: ['08:00'] })

/** What a request says of when it is sent; since version 1.1.0. */
export const scheduleFields = {
  sendAt: Type.Optional(
    Type.String({
      title: 'SendAt',
      pattern: '^\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d(:\\d\\d([.]\\d{1,9})?)?([Zz]|[+-]\\d\\d:\\d\\d)?$',
      description: 'When it is sent, up to a year ahead: RFC 3339 with an offset, or the local time of "timeZone". Of an hour that comes ' +
        'twice, the first one is meant. Since version 1.1.0.',
      examples: ['2027-01-04T09:00:00+01:00', '2027-01-04T09:00']
    })
  ),
  timeZone: Type.Optional(
    Type.String({
      title: 'SendTimeZone',
      maxLength: 60,
      format: 'time-zone',
      description:
        'An IANA time zone: of "sendAt" without an offset, and of "notBefore" and "notAfter", which are otherwise those of the ' +
        'recipient\'s country. Since version 1.1.0.',
      examples: ['Europe/Paris']
    })
  ),
  notBefore: Type.Optional({
    ...TimeOfDay,
    title: 'SendNotBefore',
    description: 'HH:MM: what is due earlier in the day waits until then. Since version 1.1.0.'
  }),
  notAfter: Type.Optional({
    ...TimeOfDay,
    title: 'SendNotAfter',
    description: 'HH:MM: what is due then or later waits for the next day. Since version 1.1.0.',
    examples: ['20:00']
  }),
  hours: Type.Optional(
    Type.Enum(['usual'], {
      title: 'SendHours',
      description:
        'usual: only in the hours that its services have in the recipient\'s country, such as outside the quiet hours of an SMS, ' +
        'or before the cut-off time of a letter. Since version 1.1.0.'
    })
  ),
  hold: Type.Optional(
    Type.Enum(['due', 'now'], {
      title: 'SendHold',
      default: 'due',
      description:
        'When the price of a scheduled dispatch is held. due: when it is due, and without credits it fails then. Since version ' +
        '1.1.0.'
    })
  )
}

const { hold: _, ...times } = scheduleFields

/** When a dispatch may be sent, as its request or the last move says. */
export const ScheduleView = Type.Object({
  ...times,
  // What serializes answers knows no format of ours.
  timeZone: Type.Optional(Type.String({ description: 'An IANA time zone.', examples: ['Europe/Paris'] }))
}, {
  title: 'DispatchSchedule',
  description: 'When it may be sent, as it was asked for. Since version 1.1.0.'
})

/** Another time for a dispatch that is scheduled. */
export const ScheduleBody = Type.Object(times, {
  additionalProperties: false,
  title: 'NewSchedule',
  description: 'It replaces what the request said. Without a time or a window, the dispatch is due at once.',
  examples: [{ sendAt: '2027-01-04T09:00', timeZone: 'Europe/Paris' }]
})
export type ScheduleBody = Static<typeof ScheduleBody>

/** When a dispatch is to be sent, as its request says. */
export type RequestedSchedule = ScheduleBody & { hold?: 'due' | 'now' }
