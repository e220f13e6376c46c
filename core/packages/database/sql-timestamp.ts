import { type RawBuilder, sql } from 'kysely'

/** An SQL expression of a time. */
export type SqlTimestamp = RawBuilder<Date>

/** The time so many seconds after another one, or before it where the number is negative. */
export function addSeconds (moment: SqlTimestamp, seconds: number): SqlTimestamp {
  return sql<Date>`(${moment} + make_interval(secs => ${seconds}))`
}
