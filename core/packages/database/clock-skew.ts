import type { Log } from '@dispatch/common'
import type { Database } from './database.ts'

/** The log warns of a skew of more than this many seconds. */
const toldFrom = 1

/**
 * Measures by how many seconds the clock of this process is behind the clock of the database; a negative number means ahead. Leases and due
 * times use the clock of the database alone. A wrong clock of the process gives wrong dates to documents, signatures and lines of the log.
 */
export async function measureSkew (database: Pick<Database, 'time'>, { now, log }: { now: () => Date, log: Log }): Promise<number> {
  const skew = await skewOf(database, now)
  if (Math.abs(skew) > toldFrom) log.warn({ clockSkew: skew }, 'the clock of this process differs from that of the database')
  return skew
}

async function skewOf (database: Pick<Database, 'time'>, now: () => Date): Promise<number> {
  const before = now().getTime()
  const theirs = (await database.time()).getTime()
  return (theirs - (before + now().getTime()) / 2) / 1000
}

/** How long a measured skew counts, in milliseconds. */
const countsFor = 60_000

/**
 * Creates a clock that tells the time of the database without a query each time. It measures the skew again after a minute, because the
 * clock of a machine may be mended while a process runs. `skew`: as it was measured at the start, in seconds; `elapsed`: milliseconds of a
 * clock that only counts. The clock throws where it measures and the database does not answer.
 */
export function createDatabaseClock (
  database: Pick<Database, 'time'>,
  { now, skew, elapsed = () => performance.now() }: { now: () => Date, skew: number, elapsed?: () => number }
): () => Promise<Date> {
  let measured = { skew, at: elapsed() }
  let measuring: Promise<void> | undefined
  const measure = async (): Promise<void> => {
    measured = { skew: await skewOf(database, now), at: elapsed() }
  }
  return async () => {
    if (elapsed() - measured.at >= countsFor) {
      await (measuring ??= measure().finally(() => {
        measuring = undefined
      }))
    }
    return new Date(now().getTime() + measured.skew * 1000)
  }
}
