import type { JsonObject, Problem } from '@dispatch/common'
import { dueAt, openFrom, type RequestedSchedule, type Window, zonesOf } from '@dispatch/contract'
import { type Hours, type ServiceName, services } from '@dispatch/services'
import type { Schedule } from '@dispatch/tables'

/** When a dispatch is sent, where that is not at any time, or why it cannot be sent then. */
export type Timing = { schedule?: Schedule, problems: readonly Problem[] }

/** A step that goes to a recipient. */
type Sending = { service: ServiceName, fields: JsonObject }

/**
 * When a request is sent, by what it says and by the hours of those who get it. `mayBeLate`: its time was checked before, and where that
 * has passed meanwhile, it is sent as soon as it may be.
 */
export function timingOf (requested: RequestedSchedule | undefined, steps: readonly Sending[], now: Date, mayBeLate = false): Timing {
  if (requested === undefined) return { problems: [] }
  const places = steps.flatMap((step) => placeOf(step, requested.timeZone))
  const problems = problemsOf(requested, places)
  if (problems.length > 0) return { problems }
  const windows = windowsOf(requested, places)
  const due = dueAt(requested, now, windows, mayBeLate)
  if ('problems' in due) return due
  if (due.at > now) return { schedule: { ...requested, dueAt: due.at.toISOString() }, problems: [] }
  return windows.length === 0 ? { problems: [] } : { schedule: requested, problems: [] }
}

/** When the hours of what is left to send are open: now or later; undefined where never. */
export function opensAt (requested: RequestedSchedule, left: readonly Sending[], now: Date): Date | undefined {
  return openFrom(now, windowsOf(requested, left.flatMap((step) => placeOf(step, requested.timeZone))))
}

/** Where a recipient is, as far as the fields of a step tell, and when that service usually sends there. */
type Place = { zones: readonly string[], usual: Hours }

function placeOf ({ service, fields }: Sending, timeZone: string | undefined): Place[] {
  const { hours } = services[service]
  if (hours === undefined) return []
  const country = hours.country(fields)
  const zones = country === undefined ? [] : zonesOf(country)
  return [{ zones: zones.length === 0 && timeZone !== undefined ? [timeZone] : zones, usual: hours.usual(country) }]
}

function problemsOf ({ notBefore, notAfter, timeZone, hours }: RequestedSchedule, places: readonly Place[]): Problem[] {
  const isGiven = notBefore !== undefined || notAfter !== undefined
  const isUnknown = places.some(({ zones }) => zones.length === 0) || (isGiven && places.length === 0)
  return [
    ...(hours === undefined || places.length > 0 ? [] : [{
      path: '/hours',
      code: 'not_supported',
      message: 'None of these services has usual hours: give "notBefore" and "notAfter".'
    }]),
    ...(isGiven && notBefore === notAfter ?
      [{
        path: '/notAfter',
        code: 'contradiction',
        message: 'It is the same as "notBefore": no time lies between the two.'
      }] :
      []),
    ...(isUnknown && timeZone === undefined && (isGiven || hours !== undefined) ?
      [{
        path: '/timeZone',
        code: 'required',
        message: 'Where the recipient is, is not known, and so not the time there: give the field "timeZone".'
      }] :
      [])
  ]
}

/** The hours that the request gives, and the usual ones of each service. */
function windowsOf ({ notBefore, notAfter, timeZone, hours }: RequestedSchedule, places: readonly Place[]): Window[] {
  const given = { ...(notBefore === undefined ? {} : { notBefore }), ...(notAfter === undefined ? {} : { notAfter }) }
  const zones = timeZone === undefined ? places.flatMap((place) => place.zones) : [timeZone]
  return [
    ...(Object.keys(given).length === 0 ? [] : [{ zones, hours: given }]),
    ...(hours === undefined ? [] : places.map((place) => ({ zones: place.zones, hours: place.usual })))
  ]
}
