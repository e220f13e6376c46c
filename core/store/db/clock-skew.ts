import type { Log } from '../../host/call/log.ts'
import type { Database } from './database.ts'

/** Seconds from which on a skew is told. */
const toldFrom = 1

/**
 * Seconds that the clock of this process is behind that of the database; negative: ahead. A warning tells of more than one. Leases and due
 * times are kept by the database's clock alone; a wrong one of a process dates its documents, signatures and lines of the log wrongly.
 */
export async function measureSkew (database: Pick<Database, 'time'>, { now, log }: { now: () => Date, log: Log }): Promise<number> {
  const before = now().getTime()
  const theirs = (await database.time()).getTime()
  const skew = (theirs - (before + now().getTime()) / 2) / 1000
  if (Math.abs(skew) > toldFrom) log.warn({ clockSkew: skew }, 'the clock of this process differs from that of the database')
  return skew
}
