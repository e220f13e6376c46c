/** A date or a time of the data. */
const day = /^\d{4}-\d{2}-\d{2}$/

/** The start of a date in a time zone, or a time unchanged; in Unix time. */
export function beginningOf (date: string, zone: string): number {
  return day.test(date) ? Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds / 1000 : secondsOf(date)
}

/** The last second of a date in a time zone, or a time unchanged; in Unix time. */
export function endOf (date: string, zone: string): number {
  return day.test(date)
    ? Temporal.PlainDate.from(date).add({ days: 1 }).toZonedDateTime(zone).epochMilliseconds / 1000 - 1
    : secondsOf(date)
}

function secondsOf (time: string): number {
  return Math.floor(Date.parse(time) / 1000)
}
