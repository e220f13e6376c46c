import type { Problem } from '@dispatch/common'
import type { Hours } from '@dispatch/services'
import type { RequestedSchedule } from '../schedule.ts'

/** Hours that hold in several time zones at once: those of a country, of which nobody knows where in it the recipient is. */
export type Window = { zones: readonly string[], hours: Hours }

/** How far ahead a dispatch may be scheduled, in days. */
export const maxAhead = 366
/** For so many days the hours of all windows are looked for together. */
const lookedFor = 30

/** A local time that clocks skip or that is missing its zone has problems instead; so has one in the past. */
export type Due = { at: Date } | { problems: Problem[] }

/**
 * When a request is sent: at its time, or now, or as soon as all windows are open after that. Problems have the paths of its fields.
 * `mayBeLate`: a time that is past means now.
 */
export function dueAt (requested: RequestedSchedule, now: Date, windows: readonly Window[], mayBeLate = false): Due {
  const from = requested.sendAt === undefined ? { at: now } : momentOf(requested.sendAt, requested.timeZone)
  if ('problems' in from) return from
  if (requested.sendAt !== undefined && from.at <= now && !mayBeLate) {
    return problem('/sendAt', 'in_the_past', `This was before now (${now.toISOString()}): give a time that is to come, or leave it out.`)
  }
  const at = openFrom(from.at < now ? now : from.at, windows)
  if (at === undefined) {
    return problem(requested.hours === undefined ? '/notBefore' : '/hours', 'never_open',
      'No time is within these hours in all time zones of the recipient\'s country: give "timeZone", "notBefore" and "notAfter".')
  }
  if (at.getTime() - now.getTime() > maxAhead * day) {
    return problem('/sendAt', 'too_late', `A dispatch can be scheduled up to ${maxAhead} days ahead.`)
  }
  return { at }
}

/** In milliseconds. */
const day = 86_400_000

function problem (path: string, code: string, message: string): { problems: Problem[] } {
  return { problems: [{ path, code, message }] }
}

/** A moment in RFC 3339, or the local time of a zone. */
function momentOf (text: string, zone: string | undefined): Due {
  const path = '/sendAt'
  const written = text.toUpperCase()
  try {
    if (/(Z|[+-]\d\d:\d\d)$/.test(written)) return { at: dateOf(Temporal.Instant.from(written)) }
    const local = Temporal.PlainDateTime.from(written, { overflow: 'reject' })
    if (zone === undefined) {
      return problem('/timeZone', 'required', '"sendAt" has no offset: give one, such as +01:00, or the field "timeZone".')
    }
    // Of the two times of an hour that comes twice, the earlier (RFC 5545, 3.3.5). What clocks skip is put forward, and so not the same.
    const there = local.toZonedDateTime(zone, { disambiguation: 'compatible' })
    if (there.toPlainDateTime().equals(local)) return { at: dateOf(there.toInstant()) }
    return problem(path, 'no_such_time',
      `Clocks in ${zone} are put forward and skip this time: the next that they show is ${there.toPlainDateTime().toString()}.`)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return problem(path, 'no_such_time', 'There is no such day or time in the calendar.')
  }
}

/** The moment for which a dispatch waits, as it is recorded (ISO 8601). */
export function dueMoment (recorded: string): Date {
  return dateOf(Temporal.Instant.from(recorded))
}

function dateOf (instant: Temporal.Instant): Date {
  return new Date(instant.epochMilliseconds)
}

/** The first moment from one on at which all windows are open; undefined where there is none for a month. */
export function openFrom (from: Date, windows: readonly Window[]): Date | undefined {
  const last = from.getTime() + lookedFor * day
  let moment = from.getTime()
  while (moment <= last) {
    const later = Math.max(moment, ...windows.flatMap(({ zones, hours }) => zones.map((zone) => nextOpen(moment, zone, hours))))
    if (later === moment) return new Date(moment)
    moment = later
  }
  return undefined
}

/**
 * The first moment from one on within hours by the clock of a zone, in milliseconds. Hours may go over midnight. They open at their time,
 * at midnight, or where clocks are put forward over their beginning or back into them: an hour that comes twice opens twice.
 */
function nextOpen (moment: number, zone: string, hours: Hours): number {
  const there = Temporal.Instant.fromEpochMilliseconds(moment).toZonedDateTimeISO(zone)
  if (isOpen(there, hours)) return moment
  const [first, change] = [there.toPlainDate(), there.getTimeZoneTransition('next')]
  for (let ahead = 0; ahead <= everyDay.length; ahead++) {
    const local = ['00:00', hours.notBefore ?? '00:00'].map((time) => first.add({ days: ahead }).toPlainDateTime(time))
    const starts = [
      ...local.flatMap((time) => [time.toZonedDateTime(zone), time.toZonedDateTime(zone, { disambiguation: 'later' })]),
      ...change === null ? [] : [change]
    ].filter((start) => start.epochMilliseconds > moment && first.until(start.toPlainDate()).days <= ahead && isOpen(start, hours))
    if (starts.length > 0) return Math.min(...starts.map(({ epochMilliseconds }) => epochMilliseconds))
  }
  return Infinity
}

function isOpen (there: Temporal.ZonedDateTime, { notBefore = '00:00', notAfter = '24:00', days = everyDay }: Hours): boolean {
  const time = there.toPlainTime().toString({ smallestUnit: 'nanosecond' })
  return days.includes(there.dayOfWeek) &&
    (notBefore <= notAfter ? time >= notBefore && time < notAfter : time >= notBefore || time < notAfter)
}

const everyDay: readonly number[] = [1, 2, 3, 4, 5, 6, 7]

/** The time zones of a country; none where nobody knows of any. */
export function zonesOf (country: string): readonly string[] {
  return new Intl.Locale(`und-${country}`).getTimeZones() ?? []
}
