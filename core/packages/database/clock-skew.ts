import type { Log } from '@dispatch/common'
import type { Database } from './database.ts'

/** The log warns of a skew of more than this many seconds. */
const toldFrom = 1

/**
 * Measures by how many seconds the clock of this process is behind the clock of the database; a negative number means ahead. Leases and due
 * times use the clock of the database alone. A wrong clock of the process gives wrong dates to documents, signatures and lines of the log.
 */
export async function measureSkew (database: Pick<Database, 'time'>, { now, log }: { now: () => Date, log: Log }): Promise<number> {
  const before = now().getTime()
  const theirs = (await database.time()).getTime()
  const skew = (theirs - (before + now().getTime()) / 2) / 1000
  if (Math.abs(skew) > toldFrom) log.warn({ clockSkew: skew }, 'the clock of this process differs from that of the database')
  return skew
}
