/** RFC 3339; the seconds may be left out, as .NET and Java do. */
const time = /[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d+)?)?/
/** In hours alone as PostgreSQL writes it, after a space as Ruby does. */
const offset = / ?(?:Z|UTC|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)/
/** `YYYY-MM-DD`, alone or before a time, an offset (XML Schema), and the name of a time zone (RFC 9557). */
const form = new RegExp(String.raw`^(\d{4}-\d{2}-\d{2})(?:${time.source})?(?:${offset.source})?(?:\[[\w+\-/]{1,50}\])?$`, 'i')

/**
 * The day (`YYYY-MM-DD`) that a date or a time is written as; undefined for anything else, such as 30 February. A time says of a day only
 * where it begins for whoever wrote it: `2026-11-26T00:00:00+01:00` is the 26th, as programs in Paris write it, also where it is still the
 * 25th. So the time is cut and never converted. Days can be compared as texts.
 */
export function dayOf (value: unknown): string | undefined {
  const [, day] = typeof value === 'string' ? form.exec(value) ?? [] : []
  return day !== undefined && isInCalendar(day) ? day : undefined
}

/** When a day (`YYYY-MM-DD`, as {@link dayOf} reads it) begins in UTC: for what computes with days, or writes them in words. */
export function midnightOf (day: string): Date {
  return new Date(`${day}T00:00:00Z`)
}

/** `new Date` would turn 30 February into a day of March. */
function isInCalendar (day: string): boolean {
  const [month, date] = [Number(day.slice(5, 7)), Number(day.slice(8))]
  if (month < 1 || month > 12 || date < 1) return false
  // Every month has 28 days; the others need the calendar, which takes longer.
  return date <= 28 || midnightOf(day).getUTCDate() === date
}
