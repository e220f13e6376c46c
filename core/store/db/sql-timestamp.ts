import { type RawBuilder, sql } from 'kysely'

/** A moment as an expression of SQL. */
export type SqlTimestamp = RawBuilder<Date>

/** The moment so many seconds after another one; before it where they are negative. */
export function addSeconds (moment: SqlTimestamp, seconds: number): SqlTimestamp {
  return sql<Date>`(${moment} + make_interval(secs => ${seconds}))`
}

/** A moment as answers have it: RFC 3339, UTC, milliseconds. */
export function isoText (moment: SqlTimestamp): RawBuilder<string> {
  return sql<string>`to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
