import { type RawBuilder, sql } from 'kysely'

/** A moment as an expression of SQL. */
export type SqlTimestamp = RawBuilder<Date>

/** The moment so many seconds after another one; before it where they are negative. */
export function addSeconds (moment: SqlTimestamp, seconds: number): SqlTimestamp {
  return sql<Date>`(${moment} + make_interval(secs => ${seconds}))`
}
