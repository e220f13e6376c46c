/** The start of a day (YYYY-MM-DD) in a time zone, in Unix time. */
export function beginningOf (day: string, zone: string): number {
  return startIn(zone, Temporal.PlainDate.from(day))
}

/** The last second of a day (YYYY-MM-DD) in a time zone, in Unix time. */
export function endOf (day: string, zone: string): number {
  return startIn(zone, Temporal.PlainDate.from(day).add({ days: 1 })) - 1
}

function startIn (zone: string, date: Temporal.PlainDate): number {
  return date.toZonedDateTime(zone).epochMilliseconds / 1000
}
